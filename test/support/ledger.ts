import type { Assertions } from 'ava';
import type { Answer } from './client.js';
import type { Place } from './management.js';

/** Counts an environment's revisions. Each write with a change creates the next revision. */
export interface Ledger {
	/** Asserts that a write succeeds with this status and creates a new revision. Returns the body. */
	wrote<Body>(answer: Answer<Body>, status?: number): Promise<Body>;
	/**
	 * Asserts that a write succeeds but changes nothing, so the response names the current revision. Returns the body.
	 */
	kept<Body>(answer: Answer<Body>, status?: number): Promise<Body>;
	/** Asserts that a read succeeds and changes nothing. Returns the body. */
	read<Body>(answer: Answer<Body>, status?: number): Promise<Body>;
	/** Asserts that the environment is at the ledger's revision and the change log has no gap. */
	balanced(): Promise<void>;
}

/** Opens a ledger. No other client may write to the environment. */
export async function openLedger(t: Assertions, place: Place): Promise<Ledger> {
	let revision = await place.revision();
	const succeeded = (answer: Answer<unknown>, status: number) => {
		t.is(answer.status, status, JSON.stringify(answer.body));
		if (status === 204) t.is(answer.body, undefined);
		else t.is(answer.headers.get('content-type'), 'application/json');
	};
	const balanced = async () => {
		t.is(await place.revision(), revision);
		const rows: { revision: number }[] = await place.store.database
			.knex('changes')
			.where({ environment_id: place.id })
			.distinct('revision')
			.orderBy('revision');
		const expected = Array.from({ length: revision }, (_, index) => index + 1);
		t.deepEqual(
			rows.map((row) => Number(row.revision)),
			expected,
		);
	};
	return {
		async wrote(answer, status = 200) {
			succeeded(answer, status);
			revision += 1;
			t.is(answer.revision, revision, 'a write’s X-Revision is the next revision');
			return answer.body;
		},
		async kept(answer, status = 200) {
			succeeded(answer, status);
			t.is(answer.revision, revision, 'X-Revision of a write without effect is the current revision');
			t.is(await place.revision(), revision);
			return answer.body;
		},
		async read(answer, status = 200) {
			succeeded(answer, status);
			t.is(await place.revision(), revision, 'a read changes no revision');
			return answer.body;
		},
		balanced,
	};
}
