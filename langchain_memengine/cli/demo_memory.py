"""The memory of a small, invented team that sells ferry tickets; its days count back from today."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the demo.

    Attributes:
        text: What is asked.
        shows: The strength it shows, in a few words.
        expected: File that should be on top; ``None`` when nobody knows.
        needs_embedder: Whether words alone do not put it on top.
    """

    text: str
    shows: str
    expected: str | None = None
    needs_embedder: bool = False


def demo_files(today: date) -> dict[str, str]:
    """Return the texts of the demo memory by file name, the newest written yesterday."""
    files = {"MEMORY.md": _MEMORY}
    files |= {_daily(today, days): text for days, text in _DAYS.items()}
    for name, (days, text) in _NOTES.items():
        written = today - timedelta(days=days)
        files[name] = f"---\ndate: {written.isoformat()}\n---\n{text}"
    return files


def write_demo_files(root: Path, today: date) -> list[str]:
    """Write the demo memory into a folder, made if there is none; return the names of the files."""
    files = demo_files(today)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)


def demo_questions(today: date) -> list[Question]:
    """Return the questions of the demo, each with the file that answers it."""
    return [
        Question("PAY-4012", "an exact identifier", _daily(today, 63)),
        Question(
            "Can I bring my puppy or kitten?",
            "the same meaning in other words",
            "tasks/animals.md",
            needs_embedder=True,
        ),
        Question(
            "When is the release window?",
            "two entries contradict, age decides",
            _daily(today, 5),
            needs_embedder=True,
        ),
        Question("Which database runs in production?", "a pinned fact", "MEMORY.md"),
        Question("почему падала печать билетов?", "Russian", "notes/printers-ru.md"),
        Question("退款多久到账？", "Chinese", "notes/refunds-zh.md"),
    ]


def _daily(today: date, days_ago: int) -> str:
    return f"daily/{(today - timedelta(days=days_ago)).isoformat()}.md"


_MEMORY = """\
# Kittiwake: what everyone should know

- Kittiwake sells ferry tickets for eleven harbours. The team: Mara (lead), Tomas (payments),
  Yulia (kiosks and printers), Wei (partners in Xiamen), Ada (support).
- Production runs on PostgreSQL 16; the kiosks keep their own SQLite. No other database.
- Prices are integers in cents, times are UTC. Nobody logs card numbers, not even masked.
- Mara decides about releases, Tomas about anything that moves money.
"""

_DAYS: Mapping[int, str] = {
    171: """\
## 09:10 — Kick-off

Five people, one summer season to prove that kiosks can be replaced by phones. Mara wrote the goal
on the wall: nobody misses a boat because of our software.

## 16:30 — Stack

We start with a monolith in Python and a plain job queue. Tomas wanted event sourcing for the
payments; we agreed to come back to it when there is a second payment provider.
""",
    142: """\
## 11:00 — Release window

The release window is Friday at 18:00, when the last morning boat is long gone. A release outside
that window needs Mara's word in the channel, two people at their desks and a tested way back.

## 15:20 — Printers

Three kiosks print blank paper after a firmware update. Yulia suspects the code page.
""",
    118: """\
## 08:45 — Load test

400 bookings a second before the queue backs up; the seat map is the slow part. Caching it for two
seconds doubles that, and a double booking is still refused by the unique index on the seat.

## 14:00 — Support

Ada counts the questions: a third of all mail asks where the receipt is.
""",
    97: """\
## 10:05 — Partners

Wei is back from Xiamen. The partner wants to see settlements in yuan every Monday, and a page in
Chinese about how refunds work.

## 17:40 — Hiring

We do not hire before autumn. Ada gets a working student for the holidays instead.
""",
    63: """\
## 07:55 — Incident: card payments

From 06:12 to 07:31 one payment in five failed with PAY-4012. The provider had rotated its signing
certificate and our pinned copy was stale. Tomas replaced it; refunds were not needed, because
nothing had been charged.

## 13:00 — Follow-up

The certificate is now fetched daily, with an alarm two weeks before it ends. PAY-4007 (limit
exceeded) is the customer's bank and stays as it is.
""",
    38: """\
## 09:30 — Storm week

All boats cancelled for two days. 2,140 tickets were moved to later departures with one script;
Tomas wants it as a button before the next storm.

## 18:15 — Retro

Too many alarms at night. Only a failed sale pages a person now, everything else waits for eight
o'clock.
""",
    17: """\
## 10:20 — Seat map

The seat map now comes from the kiosk's own copy, 40 milliseconds instead of 900. Yulia measured it
on the slowest kiosk we have, in the harbour of Ronne.
""",
    5: """\
## 09:00 — Release window

The release window is now Tuesday at 10:00: two Friday evenings ended after midnight.

## 12:10 — Button for storms

The button that moves all tickets of a cancelled boat is done and waits for Mara's review.
""",
    1: """\
## 16:05 — Season review

82 % of tickets were sold on phones, up from 31 %. Next: group bookings, and a calmer page for
people whose card was refused.
""",
}

_NOTES: Mapping[str, tuple[int, str]] = {
    "tasks/offline-tickets.md": (
        44,
        """\
# Tickets without a connection

Passengers can board without any signal. Each pass is a signed QR code, stored on the handset at
the moment of purchase, and the scanner at the gate checks the signature by itself.

## Decisions

- The public key is copied to every scanner at night.
- A pass that was scanned twice on one quay is refused; across quays we accept the risk.
""",
    ),
    "tasks/refund-race.md": (
        71,
        """\
# Refund paid twice

Two clicks on a slow line started two refunds for one booking. The fix: one idempotency key for
each booking, kept for 30 days, and a button that disables itself.

## Decisions

- Refunds go through the queue, never straight to the provider.
""",
    ),
    "tasks/storm-button.md": (
        6,
        """\
# A button for storms

Moves every ticket of a cancelled boat to the next one with free seats and writes to its owner.
Groups stay together; whoever does not like the new time gets the money back with one tap.
""",
    ),
    "tasks/animals.md": (
        33,
        """\
# Cats and dogs on board

Dogs walk on a leash, cats stay in a carrier. Animals are free, but each one is counted: a full
deck has room for twenty.
""",
    ),
    "tasks/accessible-kiosk.md": (
        102,
        """\
# Kiosk for everyone

Larger type, a spoken menu, and all buttons within reach of a wheelchair. Tested with six people of
the harbour's association for the blind; the spoken menu needed shorter sentences.
""",
    ),
    "notes/runbook.md": (
        55,
        """\
# When something burns

1. Look at the sales of the last ten minutes, not at the graphs.
2. If sales are down, switch the banner on and call whoever is on duty.
3. Roll back first, understand later. `deploy/rollback.sh` takes about four minutes.
4. Write down times while you go; the report is due the next day.
""",
    ),
    "notes/interviews.md": (
        130,
        """\
# Twelve talks on the quay

- Commuters want one tap for "the same as yesterday".
- Parents fear losing the tickets of the children; they keep a paper copy.
- Cyclists never know whether the bike fits. Say it before they pay.
""",
    ),
    "notes/glossary.md": (
        150,
        """\
# Words we use

- *Sailing*: one boat leaving one harbour at one time.
- *Pass*: what a person shows at the gate. *Booking*: what was paid, one pass or more.
- *Settlement*: the weekly sum we owe a partner.
""",
    ),
    "notes/printers-ru.md": (
        135,
        """\
# Заметки Юлии: киоски и принтеры

Печать билетов падала после обновления прошивки: принтер ждал кодировку CP866, а киоск слал
UTF-8. Теперь киоск сам узнаёт версию прошивки и выбирает кодировку.

Запасные рулоны лежат в шкафу у второго причала, ключ у дежурного.
""",
    ),
    "notes/refunds-zh.md": (
        90,
        """\
# 退款规则

开船前两小时可以免费退票。退款一般三到五个工作日到账，原路退回银行卡。

因大风停航时，系统自动改签下一班船；不愿改签的旅客可以全额退款。
""",
    ),
}
