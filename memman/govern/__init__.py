"""What a person may ask of memory and do to it: the policy behind the verbs that are not hot."""
