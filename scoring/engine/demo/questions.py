"""Short questions: one fact, several accepted wordings."""

from __future__ import annotations

from scoring.engine.demo.story import (
    REGRESSION,
    DemoCase,
    DemoDataset,
    DemoScorer,
    is_wrong_answer,
    seeded_random,
)

#: A line holds key, topic, question, answer, a mistake, and the accepted wordings.
_FACTS = """
largest-ocean | geography | Which ocean is the largest? | Pacific | Atlantic | The Pacific Ocean; the Pacific
longest-river-africa | geography | What is the longest river in Africa? | Nile | Congo | The Nile; the river Nile
capital-australia | geography | What is the capital of Australia? | Canberra | Sydney | Canberra
capital-canada | geography | What is the capital of Canada? | Ottawa | Toronto | Ottawa
highest-mountain | geography | Which mountain is the highest above sea level? | Everest | K2 | Mount Everest; Everest
smallest-state | geography | Which is the smallest country by area? | Vatican | Monaco | Vatican City; the Vatican
island-sicily | geography | To which country does Sicily belong? | Italy | Greece | Italy
deepest-lake | geography | Which lake is the deepest? | Baikal | Lake Superior | Lake Baikal; Baikal
bones | biology | How many bones does a grown person have? | 206 | 212 | 206; two hundred and six
heart-chambers | biology | How many chambers does the human heart have? | four | three | four; 4
blood-red | biology | What makes blood red? | haemoglobin | chlorophyll | haemoglobin; hemoglobin
largest-mammal | biology | Which mammal is the largest? | blue whale | African elephant | the blue whale; blue whale
photosynthesis-gas | biology | Which gas do plants take in for photosynthesis? | carbon dioxide | oxygen | carbon dioxide; CO2
spider-legs | biology | How many legs does a spider have? | eight | six | eight; 8
bee-home | biology | What is a bee's home called? | hive | nest | a hive; hive
dna-shape | biology | What shape is a DNA molecule? | double helix | triple helix | a double helix; double helix
boiling-water | physics | At how many degrees Celsius does water boil at sea level? | 100 | 90 | 100; one hundred
speed-light | physics | Does light travel faster than sound? | yes | no | yes; light is faster
nearest-star | physics | Which star is nearest to Earth? | Sun | Proxima Centauri | the Sun; our Sun
red-planet | physics | Which planet is called the red planet? | Mars | Jupiter | Mars
gravity-unit | physics | What is the unit of force? | newton | joule | the newton; newton
absolute-zero | physics | What is absolute zero in degrees Celsius? | -273.15 | -459.67 | -273.15; minus 273.15
h2o | chemistry | What is the common name of H2O? | water | hydrogen peroxide | water
gold-symbol | chemistry | What is the chemical symbol of gold? | Au | Ag | Au
lightest-element | chemistry | Which element is the lightest? | hydrogen | helium | hydrogen
table-salt | chemistry | What is table salt in chemical terms? | sodium chloride | potassium chloride | sodium chloride; NaCl
diamond | chemistry | Which element is a diamond made of? | carbon | silicon | carbon
air-most | chemistry | Which gas makes up most of the air? | nitrogen | oxygen | nitrogen
author-hamlet | arts | Who wrote Hamlet? | Shakespeare | Marlowe | William Shakespeare; Shakespeare
author-quixote | arts | Who wrote Don Quixote? | Cervantes | Lope de Vega | Miguel de Cervantes; Cervantes
mona-lisa | arts | Who painted the Mona Lisa? | Leonardo | Raphael | Leonardo da Vinci; Leonardo
moonlight-sonata | arts | Who composed the Moonlight Sonata? | Beethoven | Chopin | Ludwig van Beethoven; Beethoven
piano-keys | arts | How many keys does a standard piano have? | 88 | 85 | 88; eighty-eight
haiku-lines | arts | How many lines does a haiku have? | three | four | three; 3
guernica | arts | Who painted Guernica? | Picasso | Salvador Dalí | Pablo Picasso; Picasso
magic-flute | arts | Who composed The Magic Flute? | Mozart | Haydn | Mozart; Wolfgang Amadeus Mozart
moon-landing | history | In which year did people first land on the Moon? | 1969 | 1968 | 1969
berlin-wall | history | In which year did the Berlin Wall fall? | 1989 | 1991 | 1989
magna-carta | history | In which year was Magna Carta sealed? | 1215 | 1066 | 1215
first-emperor-rome | history | Who was the first Roman emperor? | Augustus | Julius Caesar | Augustus; Octavian
printing-press | history | Who brought movable type to Europe? | Gutenberg | Caxton | Johannes Gutenberg; Gutenberg
pyramids | history | In which country do the pyramids of Giza stand? | Egypt | Sudan | Egypt
titanic | history | In which year did the Titanic sink? | 1912 | 1915 | 1912
columbus | history | In which year did Columbus first reach the Americas? | 1492 | 1498 | 1492
minutes-day | numbers | How many minutes does a day have? | 1440 | 1,340 | 1440; 1,440
prime-after-seven | numbers | Which prime number comes after seven? | 11 | nine | 11; eleven
dozen | numbers | How many are a dozen? | twelve | ten | twelve; 12
square-root | numbers | What is the square root of 144? | 12 | fourteen | 12; twelve
leap-days | numbers | How many days does a leap year have? | 366 | 365 | 366
right-angle | numbers | How many degrees does a right angle have? | 90 | 180 | 90; ninety
"""  # noqa: E501  one fact a line

TRIALS = 3  # of the last week
GUESSED = 0.1  # the share of cases whose trials differ

_FORMS = (
    "{answer}.",
    "The answer is {answer}.",
    "It is {answer}.",
    "{answer}, as far as is known.",
)


_ROWS = [line.split(" | ") for line in _FACTS.strip().splitlines()]
_MISTAKES = {key: mistake for key, _, _, _, mistake, _ in _ROWS}


def _cases() -> list[DemoCase]:
    return [
        DemoCase(key, question, answer, (topic,), tuple(accepted.split("; ")))
        for key, topic, question, answer, _, accepted in _ROWS
    ]


def _answer(case: DemoCase, week: int) -> str:
    """One sentence. A slip is a mistake people make, too; in the bad weeks history turns vague."""
    if is_wrong_answer(case, week, usual=0.09, broken=1.1, hit_tag="history"):
        if week in REGRESSION:
            return "I am not sure. Different sources give different answers to this question."
        return _FORMS[week % 2].format(answer=_MISTAKES[case.key])
    return seeded_random(case.key, week, "form").choice(_FORMS).format(answer=case.expected)


def _again(case: DemoCase) -> list[str]:
    """Two further trials: at the hardest cases the model guesses anew each time."""
    guesses = seeded_random(case.key, "hardness").random() < GUESSED
    draws = [seeded_random(case.key, "trial", trial) for trial in range(1, TRIALS)]
    return [
        draw.choice(_FORMS).format(
            answer=_MISTAKES[case.key] if guesses and draw.random() < 0.5 else case.expected
        )
        for draw in draws
    ]


QUESTIONS = DemoDataset(
    name="Short questions",
    suite="Question release",
    series="answerer",
    model="assistant-small",
    cases=_cases(),
    scorers=(
        DemoScorer("names the answer", "includes", {"case_sensitive": False}, 1.0),
        DemoScorer(
            "means the same",
            "reference_match",
            {"embedding_provider": "local", "model_name": "all-MiniLM-L6-v2"},
            0.7,
        ),
        DemoScorer(
            "does not hedge",
            "includes",
            {
                "values": ["I am not sure", "different sources", "it depends"],
                "mode": "any",
                "case_sensitive": False,
                "negate": True,
            },
            1.0,
        ),
        DemoScorer("one sentence", "regex", {"pattern": r"^[^\n]{1,120}\.$"}, 1.0),
    ),
    answer=_answer,
    again=_again,
)
