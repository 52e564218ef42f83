"""One locked pass over the queue: claim, run the pipeline, commit, acknowledge, tidy up."""
