import type { Listeners } from './listeners.js';
import { nothingYet, type ReplicaState } from './replica.js';

/** A started decision point, which reports when it serves checks. */
export interface StartedPoint {
	/** State, with the reason why the decision point does not serve checks yet. */
	readonly state: Pick<ReplicaState, 'kind' | 'detail'>;
	/** True if the decision point serves checks. */
	readonly answers: boolean;
	/** Notified when `state` or `answers` may have changed. */
	readonly changes: Pick<Listeners<unknown>, 'add' | 'remove'>;
}

/** The control plane rejects the key, and the decision point has no other data. */
export class RefusedKeyError extends Error {
	override readonly name = 'RefusedKeyError';
}

/** Options for waiting until a decision point serves checks. */
export interface Waiting {
	/** Called once for each reason why checks are not served yet. */
	readonly say: (reason: string) => void;
	/** True to keep waiting while the key is rejected, because an operator may still fix it. */
	readonly throughRefusal: boolean;
	/** Ends the wait. */
	readonly interrupted?: AbortSignal;
}

/** Time without a response from the control plane before `say` reports this, in milliseconds. */
const maxSilence = 1_000;

/**
 * Resolves when a decision point serves checks. Rejects with `RefusedKeyError` if the API rejects the key and
 * `throughRefusal` is false, and with the abort reason if `interrupted` aborts.
 */
export function untilAnswering(point: StartedPoint, { say, throughRefusal, interrupted }: Waiting): Promise<void> {
	return new Promise((resolve, reject) => {
		const said = new Set<string>();
		const tell = (reason: string) => {
			if (!said.has(reason)) say(reason);
			said.add(reason);
		};
		const end = () => {
			clearTimeout(silence);
			point.changes.remove(look);
			interrupted?.removeEventListener('abort', abandon);
		};
		const abandon = () => {
			end();
			reject(interrupted?.reason);
		};
		const look = () => {
			const { kind, detail } = point.state;
			if (point.answers) {
				end();
				resolve();
			} else if (kind === 'refused' && !throughRefusal) {
				end();
				reject(new RefusedKeyError(detail));
			} else if (detail !== nothingYet) tell(detail);
		};
		const silence = setTimeout(() => {
			if (said.size === 0) tell('it has not responded yet');
		}, maxSilence);
		point.changes.add(look);
		interrupted?.addEventListener('abort', abandon);
		if (interrupted?.aborted) abandon();
		else look();
	});
}
