/** Age of a replica's data, and its lag behind the feed. */
export class FeedLag {
	/** Last feed response: its time on the monotonic clock, and the age of its data at this time, in milliseconds. */
	#answered: { readonly at: number; readonly age: number } | undefined;
	/** Newest feed revision, and the time since which the replica has lagged behind. */
	#ahead: { readonly revision: number; readonly since: number } | undefined;

	/** Time since the data was last confirmed current, in milliseconds; 0 before the first response. */
	get age(): number {
		return this.#answered === undefined ? 0 : this.#answered.age + performance.now() - this.#answered.at;
	}

	/** Lag of a revision behind the newest known feed revision, in revisions and in milliseconds. */
	behind(revision: number): { readonly revisions: number; readonly milliseconds: number } {
		const ahead = this.#ahead;
		if (ahead === undefined || ahead.revision <= revision) return { revisions: 0, milliseconds: 0 };
		return { revisions: ahead.revision - Math.max(revision, 0), milliseconds: performance.now() - ahead.since };
	}

	/** Records a response's time, and the time at which its data was confirmed current, in milliseconds since 1970. */
	noteAnswer(at: number, asOf = Date.now()): void {
		this.#answered = { at, age: Math.max(0, Date.now() - asOf) };
	}

	/** Records the newest feed revision, if it is newer than the revision in use. */
	noteNewest(newest: number | undefined, inUse: number): void {
		if (newest === undefined || newest <= inUse) return;
		this.#ahead = { revision: newest, since: performance.now() - this.behind(inUse).milliseconds };
	}

	/** Forgets the newest feed revision, because its lineage has ended. */
	forgetNewest(): void {
		this.#ahead = undefined;
	}
}
