"""queue.db: notes on their way to a store, and what the drain must remember between two runs.

                 (b) claim
    ┌─────────┐ ─────────────► ┌─────────┐ (c) commit  ┌──────┐
 (a)│ pending │                │ running │ ──────────► │ done │
 ──►│         │ ◄───────────── │         │             └──────┘
    └─────────┘ (d) retry,     └─────────┘
         ▲          rescue          │ (e) last attempt failed
         │                          ▼
         │ (f) by a person     ┌────────┐
         └──────────────────── │ parked │
                               └────────┘

(a) `remember` inserts the row; its uid is printed once that is on disk. (b) One
UPDATE … RETURNING, which also counts the attempt. (c) The store holds the
note's receipt; the text is cleared here. (d) A transient error gives the
attempt back; a drain that finds rows running while it holds the lock knows
their drain is dead. (e) The fifth attempt was spent. (f) `scheduler queue retry`.
"""
