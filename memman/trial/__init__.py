"""Whether a model is fit for the job: graded notes go through the real pipeline, and what lands in a store is judged.

    notes = graded()
    trial = measure(settings, ledger, notes)
    verdict(trial.tally).says

The notes are the project's own (`graded.jsonl`); docs/providers.md says how they are graded.
"""
