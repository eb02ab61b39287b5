import { type CheckForm, loggedCheckForm } from './check-form.js';

/** A row of the decision log, as far as the list shows it. */
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

/** What the event of a decision says besides its row. */
export interface DecisionNote {
	/** The key of the instance; `null` for a check without one. */
	readonly instance: string | null;
	/** The revision that decided; `null` where the event does not say. */
	readonly revision: string | null;
	/** The name of the decision point. */
	readonly decisionPoint: string | null;
	/** Whether attributes and context are not in the log, because the event was too long. */
	readonly truncated: boolean;
	/** What was masked, as JSON pointers. */
	readonly erased: readonly string[];
}

/** Reads the event of a decision, of which nothing need be there: a stock OPA sends its own. */
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

/** The check of a decision, at the revision that decided. */
export function decisionForm(row: LoggedDecision): CheckForm {
	const { revision } = readDecisionNote(row);
	const isKnown = revision !== null && /^\d{1,15}$/.test(revision);
	const token = text(member(member(row.raw_data, 'custom'), 'token')) ?? '';
	const decidedAt = isKnown ? { revision, token, at: row.timestamp } : { revision: '', at: '' };
	const form = loggedCheckForm(row.input, decidedAt);
	// Of an input that was masked, the row still tells what was asked.
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

/** The rows that are not among those shown, all of them the newest first. */
export function newRows<Row extends { readonly id: string }>(
	fresh: readonly Row[],
	shown: readonly Row[],
): readonly Row[] {
	const known = new Set(shown.map(({ id }) => id));
	return fresh.filter(({ id }) => !known.has(id));
}
