"""Support answers: free text against the answer the team agreed on."""

from __future__ import annotations

from scoring.engine.demo.story import (
    DemoCase,
    DemoDataset,
    DemoScorer,
    is_wrong_answer,
    seeded_random,
)
from scoring.engine.demo.support_judge import (
    CHOICES,
    CONNECTION,
    DEAD_END,
    MODEL,
    NUMBERS,
    RUBRIC,
    judge_reply,
)

_AGREED = """
reset-password | account | How do I reset my password? | Open Settings, then Security, and choose Reset password. We send you a link that works for one hour.
change-email | account | Can I change the e-mail address I sign in with? | Yes. Open Settings, then Profile, and enter the new address. It counts as soon as you confirm the message we send there.
delete-account | account | How can I delete my account? | Open Settings, then Privacy, and choose Delete account. Your files are kept for 30 days in case you change your mind.
two-factor | account, security | How do I turn on two-factor sign-in? | Open Settings, then Security, and scan the code with an authenticator app. Keep the ten backup codes in a safe place.
lost-phone | account, security | I lost the phone with my authenticator app. How do I get in? | Sign in with one of your ten backup codes, then open Security and set up a new phone.
locked-out | account, security | My account is locked. What now? | An account locks after eight wrong passwords and opens again after 20 minutes. You can also reset your password at once.
who-signed-in | account, security | Somebody signed in from a city I have never been to. | Open Settings, then Security, and choose Sign out everywhere. Then change your password and turn on two-factor sign-in.
change-name | account | My family name has changed. Where do I enter it? | Open Settings, then Profile, and enter the new name. Invoices written earlier keep the old one.
refund-period | billing, refund | How long do I have to ask for a refund? | You can ask for a refund within 14 days of paying. The money is back on your card within five working days.
refund-yearly | billing, refund | I paid for a year and want to stop after two months. Do I get money back? | After the first 14 days a yearly plan is not refunded, but it stays usable until the year is over.
refund-status | billing, refund | I asked for a refund a week ago. Where is it? | Refunds reach your card within five working days. Open Billing, then Refunds, to see the day yours was sent.
double-charge | billing, refund | I was charged twice this month. | Open Billing, then Payments, and choose Report a problem beside the second payment. We return a double payment within two working days.
cancel-plan | billing | How do I cancel my plan? | Open Billing, then Plan, and choose Cancel. The plan stays usable until the end of the month you have paid for.
change-card | billing | How do I pay with another card? | Open Billing, then Payment method, and choose Replace card. The next payment uses the new card.
failed-payment | billing | My payment failed. Will I lose my files? | No. We try again after three and after seven days, and your files stay readable for 30 days.
invoice-vat | billing, invoice | I need an invoice with our VAT number. | Open Billing, then Company, and enter the VAT number. Invoices written from then on carry it.
invoice-copy | billing, invoice | Where can I find last year's invoices? | Open Billing, then Invoices. Every invoice since you joined is there as a PDF.
invoice-address | billing, invoice | The address on my invoice is wrong. | Open Billing, then Company, and correct the address. We can write the last invoice again within 14 days.
student-price | billing | Is there a price for students? | Yes. Students pay half. Open Billing, then Discounts, and send us a photo of your student card.
charity-price | billing | Do charities pay less? | Registered charities pay half. Open Billing, then Discounts, and enter the registration number.
price-change | billing | Will my price go up? | Your price stays the same until your plan ends. We tell you 60 days before any change.
upgrade-midway | billing | What do I pay when I upgrade in the middle of the month? | You pay only the difference for the days that are left of the month.
seats-add | billing, team | How do I add a person to our plan? | Open Team, choose Invite, and enter the address. You pay for the seat from the day it is used.
seats-remove | billing, team | Somebody left the company. How do I stop paying for the seat? | Open Team, choose the person, then Remove. The seat is not charged from the next month on.
move-files | team, files | Can I move a folder to another team? | Yes. Open the folder's menu, choose Move, and pick the team. You need editor rights in both teams.
restore-file | files | I deleted a file by mistake. | Open Trash, choose the file, then Restore. Files stay in the trash for 30 days.
old-version | files | Can I get yesterday's version of a document? | Yes. Open the document's menu, choose History, and restore the version you want. We keep versions for 90 days.
upload-limit | files | How large may a file be? | A file may be up to 5 GB. Larger files can be split with the desktop app.
share-outside | files, sharing | How do I share a file with somebody who has no account? | Choose Share, then Create link. You can set a password and a day on which the link ends.
link-expired | files, sharing | The link I was sent says it has expired. | Ask the person who sent it for a new link. Only the owner of a file can make its links last longer.
stop-sharing | files, sharing | How do I stop sharing a folder? | Open the folder's menu, choose Sharing, and remove each person or link. It takes effect at once.
offline-use | files, app | Can I work on the train without a connection? | Yes. Choose Keep offline in a file's menu. Changes are sent when you are back online.
sync-stuck | files, app | The desktop app says it is waiting to sync. | Quit the app and start it again. If a file is open in another program, close it there first.
phone-photos | app | How do I send photos from my phone? | Open the app, choose Settings, then Camera, and turn on Send photos. It waits for a wireless network unless you say otherwise.
dark-mode | app | Is there a dark mode? | Yes. Open Settings, then Appearance, and choose Dark or Follow the system.
language | app | How do I change the language? | Open Settings, then Appearance, and choose a language. Shared folders keep their names.
notifications-off | app | You send too many e-mails. | Open Settings, then Notifications, and choose which ones you want. A weekly summary can stand in for all of them.
export-all | files, privacy | How can I take all my data with me? | Open Settings, then Privacy, and choose Export. We send a link to one archive within 24 hours.
where-stored | privacy | In which country is my data stored? | Your files are stored in Frankfurt and copied to Dublin. They do not leave the European Union.
who-can-read | privacy | Can your staff read my files? | No. Files are encrypted, and staff can open one only while you share it with support.
gdpr-request | privacy | I want to know what you have stored about me. | Open Settings, then Privacy, and choose Request my data. You get the answer within 30 days.
status-page | outage | Is the service down? | Look at the status page first; it is updated every five minutes. If all is green there, sign out and in again.
slow-uploads | outage, files | Uploads have been slow all day. | Look at the status page first. Then try another network; a VPN often halves the speed.
api-limit | developer | How many API requests may I make? | A token may make 600 requests a minute. The answer's headers say how many are left.
api-token | developer | Where do I get an API token? | Open Settings, then Developer, and choose New token. It is shown once, so copy it at once.
webhook-retry | developer | What happens when my webhook is down? | We try again for 24 hours with growing pauses, then switch the webhook off and tell you by e-mail.
"""  # noqa: E501  one agreed answer a line

_OPENINGS = ("", "", "Sure. ", "Happy to help. ", "Of course. ")


def _cases() -> list[DemoCase]:
    rows = (line.split(" | ") for line in _AGREED.strip().splitlines())
    return [
        DemoCase(key, question, agreed, tuple(tags.split(", ")))
        for key, tags, question, agreed in rows
    ]


def _answer(case: DemoCase, week: int) -> str:
    """The agreed answer in this week's words; a slip loses the end, a fact, or the way on."""
    agreed = str(case.expected)
    if is_wrong_answer(case, week, usual=0.14, broken=0.8, hit_tag="billing"):
        return _slipped(case, agreed, week)
    opening = seeded_random(case.key, week, "opening").choice(_OPENINGS)
    if agreed.startswith(("Yes.", "No.")):
        opening = ""
    return opening + (agreed.replace(", then ", " > ") if week % 3 == 2 else agreed)


def _slipped(case: DemoCase, agreed: str, week: int) -> str:
    if "billing" in case.tags and week in range(7, 9):
        return DEAD_END
    for right, wrong in NUMBERS.items():
        if right in agreed:
            return agreed.replace(right, wrong).replace("Open ", "Please go to ")
    return agreed.split(". ", maxsplit=1)[0][: len(agreed) // 2].rstrip() + "."


SUPPORT = DemoDataset(
    name="Support answers",
    suite="Support release",
    series="support-bot",
    model="assistant-small",
    cases=_cases(),
    scorers=(
        DemoScorer("close enough", "levenshtein", {}, 0.7),
        DemoScorer(
            "no dead end",
            "includes",
            {
                "values": ["cannot help", "contact our support"],
                "mode": "any",
                "case_sensitive": False,
                "negate": True,
            },
            1.0,
        ),
        DemoScorer(
            "gets them on (stored replies)",
            "llm_judge",
            {"connection": CONNECTION, "model": MODEL, "rubric": RUBRIC, "choices": CHOICES},
            0.75,
        ),
        DemoScorer("short enough", "expression", {"expression": "size(words(output)) <= 45"}, 1.0),
    ),
    answer=_answer,
    judged=judge_reply,
)
