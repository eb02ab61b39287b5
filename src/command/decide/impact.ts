import { ConfigError } from '../../config.js';
import { Impact, type ImpactCause, type ImpactRow } from '../../wire/general/impact.js';
import type { Told } from '../declaration.js';
import { readDraft } from '../read-draft.js';
import { askFor, path } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { table, visible } from '../terminal.js';

export interface ImpactOptions extends SharedOptions {
	/** Exit with a failure code if any user loses access. */
	readonly failOnLoss?: true;
	/** Maximum number of rows to list. */
	readonly rows: string;
	/** Maximum number of checks to run. */
	readonly checks?: string;
}

/** Response timeout in milliseconds. It is long because other requests may be ahead in the queue. */
const timeout = 600_000;

type FoundImpact = Impact;

/**
 * Reports the users that gain or lose access through a draft. With `failOnLoss`, exit code 1 means that a user loses
 * access. Exit code 3 means that the result is incomplete, and no loss is known.
 */
export async function impact(session: Session, options: ImpactOptions, file: string): Promise<Told> {
	const draft = readDraft(file);
	const limits = {
		rows: wholeNumber('--rows', options.rows),
		...(options.checks === undefined ? {} : { checks: wholeNumber('--checks', options.checks) }),
	};
	const { project, environment } = await session.place();
	const at = path`/v2/projects/${project}/envs/${environment}/impact`;
	// Send the draft as text so its numbers keep their exact form.
	const body = new TextEncoder().encode(`{"draft":${draft},"limits":${JSON.stringify(limits)}}`);
	const found = (await askFor(session.api, at, Impact, { method: 'POST', body, timeout })).body;
	return { text: impactText(found), json: found, exit: options.failOnLoss ? lossCode(found) : 0 };
}

function lossCode({ counts, truncated, decisions }: FoundImpact): 0 | 1 | 3 {
	if (counts.lost > 0 || decisions.lost > 0) return 1;
	return truncated || decisions.truncated ? 3 : 0;
}

function wholeNumber(option: string, text: string): number {
	if (/^\d{1,9}$/.test(text)) return Number(text);
	throw new ConfigError(`${option}: must be a whole number`);
}

function impactText(found: FoundImpact): string {
	const { base_revision, gains, loses, counts, truncated, decisions, left_out } = found;
	const least = truncated ? 'at least ' : '';
	const asked = `${counts.asked} checks compared`;
	const lines = [
		...left_out.map(({ object, message }) => `SKIPPED: ${visible(object)} does not compile: ${visible(message)}\n`),
		listed('Lost access', loses, ({ before }) => before.by),
		listed('Gained access', gains, ({ after }) => after.by),
		`at revision ${base_revision}: ${least}${counts.lost} lost, ${least}${counts.gained} gained (${asked})\n`,
		...(truncated
			? ['Incomplete: not every check was compared. Raise --checks or IMPACT_TIMEOUT, or split the draft.\n']
			: []),
		`of ${decisions.replayed} logged decisions: ${decisions.lost} lost, ${decisions.gained} gained\n`,
	];
	return lines.join('');
}

/** Lists rows, grouped by their first cause. */
function listed(
	title: 'Lost access' | 'Gained access',
	rows: readonly ImpactRow[],
	causes: (row: ImpactRow) => readonly ImpactCause[],
): string {
	const groups = new Map<string, ImpactRow[]>();
	for (const row of rows) {
		const name = causeText(causes(row)[0]);
		const known = groups.get(name) ?? [];
		groups.set(name, known);
		known.push(row);
	}
	return [...groups]
		.map(([name, found]) => {
			const cells = found.map(({ user, action, resource: { type, key }, tenant }) => [
				user,
				action,
				key === null ? type : `${type}:${key}`,
				tenant,
			]);
			const shown = table(['USER', 'ACTION', 'RESOURCE', 'TENANT'], cells);
			return `${title}: ${visible(name)}\n${shown}\n`;
		})
		.join('');
}

function causeText(cause: ImpactCause | undefined): string {
	if (cause === undefined) return 'other reasons';
	const { by, role, userset, resourceset, resource_type } = cause;
	if (by === 'set_rule') return `rule for ${userset ?? `role ${role}`} on ${resourceset ?? resource_type}`;
	return by === 'role_in_tenant' ? `role ${role} in the tenant` : `role ${role} on an instance`;
}
