import { newAuditLog } from '../domain/audit-log.js';
import { maxProblems, type Problem, unprocessable } from '../failure.js';
import { JsonLine } from '../http/json-line.js';
import { problemsIn } from '../http/problem.js';
import { nextTurn } from '../limit/next-turn.js';
import type { AuditLogIntake, NewAuditLog } from '../store/audit-log/audit-log-intake.js';
import { DecisionEvent } from '../wire/general/audit-log.js';

/**
 * Maximum lead of a decision point's clock, in milliseconds. A later event would remain the newest for too long.
 */
const maxAhead = 5 * 60_000;

/**
 * Maximum numbers of events and characters per statement. On the embedded database, all other statements wait for this
 * statement.
 */
const maxSliceEvents = 1_000;
const maxSliceLength = 512 * 1024;

/** Time in milliseconds spent on event checks before the process yields to other requests. */
const sliceMilliseconds = 5;

interface LoggedEvents {
	readonly accepted: number;
	readonly refused: number;
	/** The first few problems. */
	readonly detail: readonly Problem[];
}

/**
 * Stores the valid events of a batch, slice by slice. Throws `unprocessable` if all events are invalid. Also throws the
 * errors of `AuditLogIntake.add`. Slices stored before an error remain stored.
 */
export async function logEvents(
	events: readonly unknown[],
	apiKeyId: string,
	intake: AuditLogIntake,
	now: Date,
): Promise<LoggedEvents> {
	const detail: Problem[] = [];
	let refused = 0;
	let slice: NewAuditLog[] = [];
	let length = 0;
	let since = performance.now();
	const store = async () => {
		await intake.add(slice, now);
		slice = [];
		length = 0;
		since = performance.now();
	};
	for (const [index, sent] of events.entries()) {
		const read = readEvent(sent, index, now);
		if ('problems' in read) {
			refused += 1;
			detail.push(...read.problems.slice(0, maxProblems - detail.length));
		} else {
			const row = newAuditLog(read.event, apiKeyId, sent instanceof JsonLine ? sent.text : undefined);
			slice.push(row);
			length += row.raw.length;
		}
		if (slice.length >= maxSliceEvents || length >= maxSliceLength) await store();
		if (performance.now() - since < sliceMilliseconds) continue;
		await nextTurn();
		since = performance.now();
	}
	await store();
	if (refused > 0 && refused === events.length) throw unprocessable(detail);
	return { accepted: events.length - refused, refused, detail };
}

/** Returns the event at this batch index, or its problems. */
function readEvent(
	sent: unknown,
	index: number,
	now: Date,
): { readonly event: DecisionEvent } | { readonly problems: readonly Problem[] } {
	const line = sent instanceof JsonLine ? sent.parse() : { value: sent };
	if ('problem' in line) {
		const { path, msg, type } = line.problem;
		return { problems: [{ loc: ['body', index, ...path], msg, type }] };
	}
	const parsed = DecisionEvent.safeParse(line.value, { reportInput: true });
	if (!parsed.success) {
		const issues = parsed.error.issues.map((issue) => ({ ...issue, path: [index, ...issue.path] }));
		return { problems: problemsIn('body', issues) };
	}
	const { timestamp } = parsed.data;
	if (Date.parse(timestamp) <= now.getTime() + maxAhead) return { event: parsed.data };
	const msg = `must be at most five minutes ahead of the server time ${now.toISOString()}, got \`${timestamp}\``;
	return { problems: [{ loc: ['body', index, 'timestamp'], msg, type: 'value_error' }] };
}
