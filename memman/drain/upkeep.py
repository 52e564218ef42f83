"""What a drain does once its notes have landed: tidying, syncs, what an upgrade or a person left, a backup if due."""

from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from memman.clock import now_ms
from memman.config import stores as folder
from memman.config import synced
from memman.config.schedule import beat
from memman.drain.failpoint import Reach
from memman.drain.stores import Stores
from memman.drain.worklog import Worklog, failure
from memman.model.errors import Busy, CannotWrite, MemmanError, ProviderMisconfigured, StoreError
from memman.model.vocabulary import BUILTIN, JUDGED
from memman.queue.ledger import Ledger
from memman.queue.notes import Queue
from memman.upkeep.idle import PASSED_OVER, UPGRADING, lagging

if TYPE_CHECKING:
    from memman.embed import Embedder

# Memories whose edges are made at the end of one drain, a store: seconds' work.
AT_ONCE = 400


class Upkeep:
    """The work of one round of a drain on queue and stores, each part bounded; the next drain goes on with it."""

    def __init__(self, data: str, queue: Queue, stores: Stores, stopping: Callable[[], bool], log: Worklog) -> None:
        self.data, self.queue, self.stores, self.stopping, self.log = data, queue, stores, stopping, log

    async def run(self, reach: Reach, *, everywhere: bool) -> None:
        """Do all of it; beyond tidying in all stores (`everywhere`), or in those that were opened."""
        reach("before:maintenance", None)
        await self._tidied()
        reach("after:maintenance", None)
        self._files_looked_at(everywhere=everywhere)
        if not self.stopping():
            await self._synced(reach)
        unseen = await self._screened()
        left = not self.stopping() and await self._upgraded(everywhere=everywhere)
        self.queue.set_meta(UPGRADING, "1" if left or unseen else "")
        if not (left or unseen or self.stopping()):
            self.queue.set_meta(PASSED_OVER, " ".join(lagging(self.data)))
        if not self.stopping():
            if not left:
                self._topics_found(everywhere=everywhere)
            await self._summed_up(idle=everywhere)
            self._backed_up()

    async def _tidied(self) -> None:
        from memman.upkeep.maintenance import maintain, scrub

        began, stores = now_ms(), self.stores
        await maintain(self.data, self.queue, Ledger(self.queue.db), stores.writable(), stores.store)
        scrub(self.data, self.queue, stores.here)
        self.log.write("maintenance", "debug", ms=now_ms() - began, stores=sorted(stores.opened))

    def _files_looked_at(self, *, everywhere: bool) -> None:
        from memman.upkeep.files import look

        look(self._names(all_stores=everywhere), self.stores.store)

    async def _screened(self) -> bool:
        """Look for secrets in what was not screened by today's rules; return whether some of it is left."""
        from memman.upkeep.screen import screen

        return await screen(lagging(self.data, self.stores.shut), self.stores.store, self.stopping, self._tick)

    async def _upgraded(self, *, everywhere: bool) -> bool:
        """Make the vectors of this machine that memories lack, and drop those of before; return whether some are left.

        Where the judge's files are missing that is left undone: doctor tells of it, and so does every note that needs
        them.
        """
        from memman.pipeline.judged import JudgedVectors
        from memman.upkeep.backfill import catch_up

        providers = self.stores.providers
        try:
            judge = providers.judge()
            makers: list[Embedder] = [providers.local(), *([JudgedVectors(judge)] if judge else [])]
            made = " ".join(str(one.fingerprint) for one in makers)
            upgraded = self.queue.meta(JUDGED) != made
            names = sorted({*self._names(all_stores=upgraded or everywhere), *lagging(self.data, self.stores.shut)})
            left = await catch_up(names, self.stores.store, makers, self.stopping, self._tick)
            left = left or (not self.stopping() and self._linked(names))
        except ProviderMisconfigured as error:
            self.log.write("upgrade failed", **failure(error))
            return False
        if upgraded and not left:
            self.queue.set_meta(JUDGED, made)
        return left

    def _linked(self, names: Collection[str]) -> bool:
        """Make the edges of memories that came from elsewhere; return whether some are left."""
        from memman.upkeep.backfill import resolved
        from memman.upkeep.relink import relink_unknown

        left = False
        for name in names:
            with suppress(StoreError, CannotWrite, Busy):
                store = self.stores.store(name)
                made = resolved(store.db, self.stores.providers.embedder(name).fingerprint)
                left |= relink_unknown(store, made, self.stores.providers.local(), AT_ONCE)
                self._tick()
        return left

    async def _synced(self, reach: Reach) -> None:
        """Make a round with each store that is synced by a folder; what is in the way of one is told, and no more."""
        for name in synced.names(self.data):
            from memman.sync.turn import failed, turn

            try:
                store, tools = self.stores.equipped(name)
                done = await turn(store, self.data, name, tools, reach, self.stopping, patient=True)
            except (MemmanError, OSError) as error:
                failed(self.data, name, str(error))
                self.log.write("sync failed", **failure(error))
            else:
                if done.changed or done.troubles:
                    counts = f"{done.said} said, {done.taken} taken in, {done.retired} retired"
                    self.log.write("synced", store=name, values=counts, troubles=done.troubles)
            self._tick()

    def _topics_found(self, *, everywhere: bool) -> None:
        """Find out what the memories of each store are about, where they have changed."""
        from memman.upkeep.topics import refresh

        for name in self._names(all_stores=everywhere):
            try:
                refresh(self.stores.here(name), self.stores.providers.local())
            except MemmanError as error:
                self.log.write("topics failed", store=name, **failure(error))
            self._tick()

    async def _summed_up(self, *, idle: bool) -> None:
        """Have the model sum up pages of topics, where a person wants that; what is in the way of it can wait."""
        model = (
            self.stores.providers.model() if idle and self.stores.providers.settings["MEMMAN_PAGES"] == "on" else None
        )
        if model is None or model.provider == BUILTIN:
            return
        from memman.upkeep.summaries import write

        for name in self._names(all_stores=True):
            try:
                if asked := await write(self.stores.here(name), model, self.stopping):
                    self.log.write("pages summed up", store=name, asked=asked)
            except MemmanError as error:
                self.log.write("summing up failed", store=name, **failure(error))
                return
            self._tick()

    def _backed_up(self) -> None:
        """Take a backup where one is due; one that fails is logged, and doctor sees it."""
        from memman.recovery.backup import attempt

        try:
            made = attempt(self.data, self.queue, self.stores.providers.settings)
        except (MemmanError, OSError) as error:
            self.log.write("backup failed", **failure(error))
        else:
            if made:
                self.log.write("backup taken", backup=made.id)
                self._tick()

    def _names(self, *, all_stores: bool) -> list[str]:
        names = folder.names(self.data) if all_stores else sorted(self.stores.opened)
        return [name for name in names if name not in self.stores.shut]

    def _tick(self) -> None:
        beat(self.data)
