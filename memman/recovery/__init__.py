"""Checking what is stored, making it anew where it is damaged, backups, restoring them, and purging: a module per flow.

    <data>/backups/20261121T142045Z[-label]/
        manifest.json       what is in it: written last, and read first
        queue.db            copied first, so that a note it holds as done is in the store that is copied after it
        stores/NAME.db

A note acknowledged before a backup began waits in its queue, or lies in its
store, or both, where the next drain finds the receipt. No key and no env file
is in it.
"""
