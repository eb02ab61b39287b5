import { type CheckForm, loggedCheckForm } from './check-form.js';

/** Decision log row, with the fields that the list shows. */
export interface LoggedDecision {
	readonly id: string;
	readonly timestamp: string;
	readonly user_key: string | null;
	readonly action: string | null;
	readonly resource_type: string | null;
	readonly tenant: string | null;
	readonly decision: boolean | null;
	readonly reason: string | null;
	readonly input?: unknown;
	readonly raw_data?: unknown;
}

/** Data in a decision's event that its row does not contain. */
export interface DecisionNote {
	/** Instance key; `null` for a check without an instance. */
	readonly instance: string | null;
	/** Decision revision; `null` if the event does not name it. */
	readonly revision: string | null;
	/** Decision point name. */
	readonly decisionPoint: string | null;
	/** True if the log omits attributes and context because the event was too long. */
	readonly truncated: boolean;
	/** Masked values, each as a JSON pointer. */
	readonly erased: readonly string[];
}

/** Reads a decision's event. Every part is optional, because an unmodified OPA sends different events. */
export function readDecisionNote({ input, raw_data }: LoggedDecision): DecisionNote {
	const erased = member(raw_data, 'erased');
	return {
		instance: text(member(member(input, 'resource'), 'key')),
		revision: text(member(member(member(raw_data, 'bundles'), 'environment'), 'revision')),
		decisionPoint: text(member(member(raw_data, 'labels'), 'id')),
		truncated: member(raw_data, 'truncated') === true,
		erased: Array.isArray(erased) ? erased.filter((one) => typeof one === 'string') : [],
	};
}

/** Returns the check behind a decision, at the decision's revision if possible. */
export function decisionForm(row: LoggedDecision): CheckForm {
	const { revision } = readDecisionNote(row);
	const isKnown = revision !== null && /^\d{1,15}$/.test(revision);
	const token = text(member(member(row.raw_data, 'custom'), 'token')) ?? '';
	const decidedAt = isKnown ? { revision, token, at: row.timestamp } : { revision: '', at: '' };
	const form = loggedCheckForm(row.input, decidedAt);
	// Even if the input was masked, the row still contains the check.
	return {
		...form,
		user: form.user || (row.user_key ?? ''),
		action: form.action || (row.action ?? ''),
		resource: form.resource || (row.resource_type ?? ''),
		tenant: form.tenant || (row.tenant ?? ''),
	};
}

function member(value: unknown, name: string): unknown {
	return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
		? (value as Readonly<Record<string, unknown>>)[name]
		: undefined;
}

function text(value: unknown): string | null {
	return typeof value === 'string' ? value : null;
}

/** Returns the newly read rows that are not yet shown, newest first. */
export function newRows<Row extends { readonly id: string }>(
	fresh: readonly Row[],
	shown: readonly Row[],
): readonly Row[] {
	const known = new Set(shown.map(({ id }) => id));
	return fresh.filter(({ id }) => !known.has(id));
}
