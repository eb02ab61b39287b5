/** The name of a state of an environment: the ETag by which decision points tell the feed what they hold. */

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DataState } from './try-change.js';

/** The state that a decision point has. */
export interface ClientState extends DataState {
	/** Whether this server, or another one with its key, has named the state. */
	readonly verified: boolean;
}

/** How much of a digest is in a name: enough that two policies never share it. */
const digestLength = 32;
/** How much of the proof is in a name, in hexadecimal digits. */
const proofLength = 24;
const nameForm =
	/^(?:W\/)?"([0-9a-f]{16})\.r(\d{1,15})\.([0-9a-f]{1,16})-([0-9a-f]{32})(?:-([0-9.]{1,40}[cfl]))?\.([0-9a-f]{24})"$/;

/**
 * Names states of environments, and reads the names. A name proves that a server with the same key has made it, so that
 * a client cannot invent a revision that this database does not have.
 */
export class StateNames {
	/** @param keys names prove the first one, and are verified by any: there are two while the server key is rotated. */
	constructor(private readonly keys: readonly [Buffer, ...Buffer[]]) {}

	/** The name of a state, as an ETag. */
	name(environment: string, state: DataState): string {
		return `"${stateText(state)}.${prove(this.keys[0], environment, state)}"`;
	}

	/** Reads an ETag; any that is not the name of a state is `null`. */
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
