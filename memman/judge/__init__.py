"""A small trained encoder that tells what is worth keeping, and what a new statement does to an old one.

tools/train_judge makes its weights. It runs in the drain only; without it (`MEMMAN_JUDGE=off`) only rules of structure
remain.
"""
