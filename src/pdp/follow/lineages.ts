import { BundleError } from '../../bundle/bundle.js';
import type { EventLog } from '../../log.js';

interface Place {
	readonly lineage: string;
	readonly revision: number;
}

/** Lineage that the replica left, because the control plane lost revisions. */
export interface LeftLineage extends Place {
	/** Time when the replica left the lineage, in ISO 8601. */
	readonly at: string;
}

/**
 * History of a replica. INVARIANT: the revision never decreases within a lineage, and an ended lineage is never used
 * again.
 */
export class Lineages {
	/** Ended lineages: lineages that the replica has left, or that bundles list as ended. */
	readonly ended: Set<string>;
	/** Lineage left most recently. */
	left: LeftLineage | undefined;
	/** Number of lineage changes. */
	changes = 0;
	/** Last lineage and revision in use. Kept even after the revision is dropped. */
	#last: Place | undefined;

	constructor(
		private readonly log: EventLog,
		ended: Iterable<string> = [],
	) {
		this.ended = new Set(ended);
	}

	/** Throws `BundleError` if the lineage has ended, or if `held` is newer within it. */
	refuseGoingBack({ lineage, revision }: Place, held: Place | undefined): void {
		if (this.ended.has(lineage)) throw new BundleError(`the feed went back to lineage ${lineage}, which has ended`);
		if (held === undefined || held.lineage !== lineage || revision >= held.revision) return;
		throw new BundleError(`the feed went back to revision ${revision}; revision ${held.revision} is kept`);
	}

	/** Records the lineages that a snapshot of the lineage `current` declares ended. */
	end(former: readonly string[], current: string): void {
		for (const lineage of former) if (lineage !== current) this.ended.add(lineage);
	}

	/** Records a revision in use, and the lineage that it ends. Returns true if the lineage is new. */
	enter({ lineage, revision }: Place): boolean {
		const last = this.#last;
		this.#last = { lineage, revision };
		if (last === undefined || last.lineage === lineage) return false;
		this.ended.add(last.lineage);
		// Earlier API versions sent no lineage.
		if (last.lineage === '') return true;
		this.changes += 1;
		this.left = { ...last, at: new Date().toISOString() };
		this.log.warn(
			{ lineage, revision, left: this.left },
			'the control plane has begun a new lineage: its database lost or may have lost revisions',
		);
		return true;
	}
}
