/** Decisions that wait for the decision log, in preallocated memory. */

import type { DecisionKind } from '../../wire/decision/filter.js';
import type { EngineInput } from '../engine/engine.js';

/** Parts of a request that its logged decisions share. */
export interface LoggedRequest {
	/** Id of the decision; ids of several decisions in a request also contain their position. */
	readonly decisionId?: string;
	readonly requestId: string;
	/** Client SDK, as sent by the client; `undefined` if the client sends none. */
	readonly sdk: string | undefined;
	/** Revision that decided, with its random token. */
	readonly held: {
		readonly lineage: string;
		readonly token: string;
		readonly revision: number;
		readonly policyRevision: number;
	};
}

/** A decision to log. */
export interface LoggedDecision extends Required<LoggedRequest> {
	readonly kind: DecisionKind;
	readonly input: EngineInput;
	readonly code: string;
	/** Policy evaluation time in milliseconds. */
	readonly duration: number;
	/** Position in a request with several checks. */
	readonly index: number | undefined;
}

type Slot = { -readonly [Name in keyof LoggedDecision]: LoggedDecision[Name] };

const noInput: EngineInput = { user: { key: '' }, action: '', resource: { type: '', tenant: '' }, time: 0 };
const noRevision = { lineage: '', token: '', revision: 0, policyRevision: 0 };

function emptySlot(): Slot {
	return {
		decisionId: '',
		requestId: '',
		sdk: undefined,
		held: noRevision,
		kind: 'check',
		input: noInput,
		code: '',
		duration: 0,
		index: undefined,
	};
}

/**
 * A ring of decisions. It holds references to the inputs, so adding a decision copies nothing. The caller takes
 * decisions out before the ring is full.
 */
export class DecisionRing {
	readonly #slots: readonly Slot[];
	#first = 0;
	#length = 0;

	constructor(readonly capacity: number) {
		this.#slots = Array.from({ length: capacity }, emptySlot);
	}

	get length(): number {
		return this.#length;
	}

	/** Adds a decision. The ring must not be full. */
	add(
		input: EngineInput,
		code: string,
		duration: number,
		index: number | undefined,
		request: LoggedRequest,
		kind: DecisionKind,
	): void {
		const slot = this.#slots[(this.#first + this.#length) % this.capacity];
		if (slot === undefined || this.#length === this.capacity) throw new Error('the ring of decisions is full');
		slot.kind = kind;
		slot.input = input;
		slot.code = code;
		slot.duration = duration;
		slot.index = index;
		slot.decisionId = request.decisionId ?? '';
		slot.requestId = request.requestId;
		slot.sdk = request.sdk;
		slot.held = request.held;
		this.#length += 1;
	}

	/** Passes the oldest decision to `use`, which must not keep it, and removes it. */
	take(use: (decision: LoggedDecision) => void): void {
		const slot = this.#slots[this.#first];
		if (slot === undefined || this.#length === 0) return;
		this.#first = (this.#first + 1) % this.capacity;
		this.#length -= 1;
		try {
			use(slot);
		} finally {
			slot.input = noInput;
			slot.held = noRevision;
			slot.sdk = undefined;
		}
	}
}
