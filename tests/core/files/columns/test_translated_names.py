"""The guessed mapping for files whose columns have German, French or Spanish names."""

from __future__ import annotations

import pytest

from scoring.core.files import Row, guess_mapping
from scoring.core.files.columns.guess import is_known
from scoring.core.files.columns.translated_names import OTHER_NAMES, OTHER_OUTPUT_NAMES

NAMES = {name for names in (*OTHER_NAMES.values(), OTHER_OUTPUT_NAMES) for name in names}


@pytest.mark.parametrize(
    ("names", "fields"),
    [
        ("Frage|Antwort", "input|expected"),
        ("Frage|Antwort|Erwartete Antwort", "input|output|expected"),
        ("Eingabe|Ausgabe|Erwartet|Kategorie", "input|output|expected|tags"),
        ("Kennung|Frage|Musterlösung", "id|input|expected"),
        ("Schlüssel|Eingabe|Soll", "id|input|expected"),
        ("FRAGE|Richtige Antwort|Schlagworte", "input|expected|tags"),
        ("Frage|Antworten|Referenzen", "input||references"),
        ("question|réponse", "input|expected"),
        ("entrée|sortie|attendu", "input|output|expected"),
        (
            "Question|Réponse attendue|Réponse|Catégorie",
            "input|expected|output|tags",
        ),
        ("Question|Bonne re\N{COMBINING ACUTE ACCENT}ponse", "input|expected"),
        ("pregunta|respuesta", "input|expected"),
        ("Pregunta|Respuesta esperada|Respuesta|Etiquetas", "input|expected|output|tags"),
        ("entrada|salida|categoría", "input|output|tags"),
        ("Frage|question", "|input"),
    ],
)
def test_names_of_other_languages_are_understood(names: str, fields: str) -> None:
    mapping = guess_mapping(columns := names.split("|"))
    pairs = zip(fields.split("|"), columns, strict=True)
    expected = {field: [column] for field, column in pairs if field}
    separators = ("references_separator", "tags_separator")
    found = {name: value for name, value in mapping.choices().items() if name not in separators}
    assert found == expected


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        ("Frage|Antwort GPT|Antwort Claude", ["GPT", "Claude"]),
        ("Frage|GPT Ausgabe|Claude Ausgabe|Erwartete Ausgabe", ["GPT", "Claude"]),
        ("Frage|Réponse a|Reponse b|Reponse correcte", ["a", "b"]),
        ("pregunta|respuesta a|respuesta b|respuesta correcta", ["a", "b"]),
    ],
)
def test_several_outputs_are_labelled_by_what_tells_them_apart(
    names: str, labels: list[str]
) -> None:
    assert list(guess_mapping(names.split("|")).labels.values()) == labels


def test_lists_of_tags_are_split() -> None:
    rows = [Row(n, {"Frage": "x", "Schlagworte": "leicht; kurz"}) for n in range(3)]
    assert guess_mapping(["Frage", "Schlagworte"], rows).tags_separator == ";"


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_is_known_as_it_is_compared(name: str) -> None:
    assert is_known(name)
    assert is_known(name.upper().replace("_", " "))
