/** Names for environment states. Decision points report their state to the feed by sending these names as ETags. */

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DataState } from './try-change.js';

/** State that a decision point has loaded. */
export interface ClientState extends DataState {
	/** True if the state's name was issued by this server, or by a server with the same key. */
	readonly verified: boolean;
}

/** Length of the digest in a name, enough to distinguish any two policies. */
const digestLength = 32;
/** Proof length in a name, in hexadecimal digits. */
const proofLength = 24;
const nameForm =
	/^(?:W\/)?"([0-9a-f]{16})\.r(\d{1,15})\.([0-9a-f]{1,16})-([0-9a-f]{32})(?:-([0-9.]{1,40}[cfl]))?\.([0-9a-f]{24})"$/;

/**
 * Names environment states, and reads the names. A name proves that a server with the same key created it, so a client
 * cannot invent a revision that this database lacks.
 */
export class StateNames {
	/**
	 * @param keys the first key signs new names, and all keys verify names. There are two keys during a server key
	 * rotation.
	 */
	constructor(private readonly keys: readonly [Buffer, ...Buffer[]]) {}

	/** Returns the state name as an ETag. */
	name(environment: string, state: DataState): string {
		return `"${stateText(state)}.${prove(this.keys[0], environment, state)}"`;
	}

	/** Reads an ETag; `null` if it is not a state name. */
	read(environment: string, etag: string | undefined): ClientState | null {
		const [, lineage, revision, token, digest, pending = null, proof] = nameForm.exec(etag ?? '') ?? [];
		if (!(lineage && revision && token && digest && proof)) return null;
		const state = { lineage, revision: Number(revision), token, digest, pending };
		const given = Buffer.from(proof);
		const isProof = (key: Buffer) => timingSafeEqual(given, Buffer.from(prove(key, environment, state)));
		return { ...state, verified: this.keys.some(isProof) };
	}
}

function prove(key: Buffer, environment: string, state: DataState): string {
	const proof = createHmac('sha256', key).update(`${environment}/${stateText(state)}`);
	return proof.digest('hex').slice(0, proofLength);
}

function stateText({ lineage, revision, token, digest, pending }: DataState): string {
	const data = `${lineage}.r${revision}.${token}-${digest.slice(0, digestLength)}`;
	return pending === null ? data : `${data}-${pending}`;
}
