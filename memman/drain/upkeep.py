"""What a drain does once its notes have landed: tidying, syncs, what an upgrade or a person left, a backup if due."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from memman.clock import now_ms
from memman.config import stores as folder
from memman.config import synced
from memman.config.schedule import beat
from memman.drain.failpoint import Reach
from memman.drain.stores import Stores
from memman.drain.worklog import Worklog, failure
from memman.model.errors import Busy, CannotWrite, MemmanError, ProviderMisconfigured, StoreError
from memman.model.records import Fingerprint
from memman.model.vocabulary import BUILTIN, JUDGED
from memman.pipeline.vectors import JudgedVectors
from memman.queue.ledger import Ledger
from memman.queue.notes import Queue
from memman.recovery.backup import attempt
from memman.upkeep.backfill import catch_up
from memman.upkeep.files import look
from memman.upkeep.idle import PASSED_OVER, UPGRADING, lagging
from memman.upkeep.maintenance import maintain, scrub
from memman.upkeep.relink import relink_unlinked
from memman.upkeep.screen import screen
from memman.upkeep.topics import refresh

if TYPE_CHECKING:
    from memman.embed.base import Embedder

# Memories whose edges are made at the end of one drain, a store: seconds' work.
AT_ONCE = 400


class Upkeep:
    """The work of one round of a drain on queue and stores, each part bounded; the next drain goes on with it."""

    def __init__(self, data: str, queue: Queue, stores: Stores, stopping: Callable[[], bool], log: Worklog) -> None:
        self.data, self.queue, self.stores, self.stopping, self.log = data, queue, stores, stopping, log

    async def run(self, reach: Reach, *, everywhere: bool) -> None:
        """Do all of it; beyond tidying in all stores (`everywhere`), or in those that were opened."""
        stores, began = self.stores, now_ms()
        reach("before:maintenance", None)
        await maintain(self.data, self.queue, Ledger(self.queue.db), stores.writable(), stores.here)
        scrub(self.data, self.queue, stores.here)
        self.log.write("maintenance", "debug", ms=now_ms() - began, stores=sorted(stores.opened))
        reach("after:maintenance", None)
        look(self._names(all_stores=everywhere), stores.store)
        if not self.stopping():
            await self._synced(reach)
        unseen = await screen(lagging(self.data, stores.shut), stores.store, self.stopping, self._tick)
        left = not self.stopping() and await self._upgraded(everywhere=everywhere)
        self.queue.set_meta(UPGRADING, "1" if left or unseen else "")
        if not (left or unseen or self.stopping()):
            self.queue.set_meta(PASSED_OVER, " ".join(lagging(self.data)))
        if not self.stopping():
            for name in self._names(all_stores=everywhere) if not left else ():
                with self._logged("topics", store=name):
                    refresh(stores.here(name), stores.providers.local())
            await self._summed_up(idle=everywhere)
            with self._logged("backup"):
                if made := attempt(self.data, self.queue, stores.providers.settings):
                    self.log.write("backup taken", backup=made.id)

    async def _upgraded(self, *, everywhere: bool) -> bool:
        """Make the vectors of this machine that memories lack, and drop those of before; return whether some are left.

        Where the judge's files are missing that is left undone: doctor tells of it, and so does every note that needs
        them.
        """
        providers = self.stores.providers
        try:
            judge = providers.judge()
            makers: list[Embedder] = [providers.local(), JudgedVectors(judge)]
            made = " ".join(str(one.fingerprint) for one in makers)
            upgraded = self.queue.meta(JUDGED) != made
            names = sorted({*self._names(all_stores=upgraded or everywhere), *lagging(self.data, self.stores.shut)})
            left = await catch_up(names, self.stores.store, makers, self.stopping, self._tick)
            left = left or (not self.stopping() and self._linked(names, makers[-1].fingerprint))
        except ProviderMisconfigured as error:
            self.log.write("upgrade failed", **failure(error))
            return False
        if upgraded and not left:
            self.queue.set_meta(JUDGED, made)
        return left

    def _linked(self, names: Collection[str], judge: Fingerprint) -> bool:
        """Make the edges of memories that came from elsewhere; return whether some are left."""
        left = False
        for name in names:
            with suppress(StoreError, CannotWrite, Busy):
                left |= relink_unlinked(self.stores.store(name), judge, AT_ONCE)
                self._tick()
        return left

    async def _synced(self, reach: Reach) -> None:
        """Make a round with each store that is synced by a folder; what is in the way of one is told, and no more."""
        for name in synced.names(self.data):
            from memman.sync.turn import failed, turn_by_folder

            try:
                store, tools = self.stores.equipped(name)
                done = await turn_by_folder(store, self.data, name, tools, reach, self.stopping, patient=True)
            except (MemmanError, OSError) as error:
                failed(self.data, name, str(error))
                self.log.write("sync failed", **failure(error))
            else:
                if done.changed or done.troubles:
                    counts = f"{done.said} said, {done.taken} taken in, {done.retired} retired"
                    self.log.write("synced", store=name, values=counts, troubles=done.troubles)
            self._tick()

    async def _summed_up(self, *, idle: bool) -> None:
        """Have the model sum up pages of topics, where a person wants that; what is in the way of it can wait."""
        providers = self.stores.providers
        model = providers.model() if idle and providers.settings["MEMMAN_PAGES"] == "on" else None
        if model is None or model.provider == BUILTIN:
            return
        from memman.upkeep.summaries import write

        with self._logged("summing up"):
            for name in self._names(all_stores=True):
                if asked := await write(self.stores.here(name), model, self.stopping):
                    self.log.write("pages summed up", store=name, asked=asked)
                self._tick()

    @contextmanager
    def _logged(self, what: str, **fields: str) -> Iterator[None]:
        """Log that something failed, and go on: it can wait, and doctor sees what a person has to."""
        try:
            yield
        except (MemmanError, OSError) as error:
            self.log.write(f"{what} failed", **fields, **failure(error))
        self._tick()

    def _names(self, *, all_stores: bool) -> list[str]:
        names = folder.names(self.data) if all_stores else sorted(self.stores.opened)
        return [name for name in names if name not in self.stores.shut]

    def _tick(self) -> None:
        beat(self.data)
