import type { z } from 'zod';
import { errorMessage } from '../../failure.js';
import { Health } from '../../wire/decision/check.js';
import { PolicyRead } from '../../wire/general/policy.js';
import type { Told } from '../declaration.js';
import { placeName } from '../place-name.js';
import { ask, askFor, path } from '../server.js';
import type { Session } from '../session.js';
import { visible } from '../terminal.js';

const Policy = PolicyRead.omit({ files: true });

/** Reports the API, environment, policy and decision point state. Exit code 1 means a problem. */
export async function status(session: Session): Promise<Told> {
	const { api, decisionPoint } = session;
	const [environment, health, access] = await Promise.all([
		attempted(() => readEnvironment(session)),
		attempted(async () => (await askFor(decisionPoint, '/healthy', Health)).body),
		// A query that applications also send. The decision log omits it.
		attempted(() => ask(decisionPoint, '/user-tenants', { method: 'POST', body: { user: 'regolith-status' } })),
	]);
	const found: Found = {
		api: { url: api.url, environment: environment.value?.name ?? null },
		policy: environment.value?.policy ?? null,
		decision_point: {
			url: decisionPoint.url,
			health: health.value,
			lag: revisionLag(environment.value?.policy, health.value),
		},
	};
	// Report an unreachable decision point as a single problem.
	const told = [environment.problem, health.problem ?? access.problem].filter((problem) => problem !== null);
	const problems = [...told, ...statusProblems(found)];
	return {
		text: statusText(found, problems),
		json: { healthy: problems.length === 0, ...found, problems },
		exit: problems.length === 0 ? 0 : 1,
	};
}

type Policy = z.output<typeof Policy>;

/** Status findings. */
export interface Found {
	readonly api: { readonly url: string; readonly environment: string | null };
	/** Policy; `null` if it could not be read. */
	readonly policy: Policy | null;
	readonly decision_point: {
		readonly url: string;
		readonly health: Health | null;
		/** Number of revisions behind the API; negative if the decision point is ahead. */
		readonly lag: number | null;
	};
}

async function readEnvironment(session: Session) {
	const place = await session.place();
	const { project, environment } = place;
	const policy = await askFor(session.api, path`/v2/projects/${project}/${environment}/policy`, Policy);
	return { name: await placeName(session.api, place), policy: policy.body };
}

/**
 * Returns the number of revisions between a decision point and the API; `null` if either is unknown or their lineages
 * differ.
 */
function revisionLag(policy: Policy | undefined, health: Health | null): number | null {
	const decided = health?.revision ?? null;
	if (policy === undefined || decided === null || areApart(policy, health)) return null;
	return policy.revision - decided;
}

/** True if the decision point and the database have different lineages. Earlier versions report no lineage. */
function areApart(policy: Policy | null, health: Health | null): boolean {
	const [ours, theirs] = [policy?.lineage ?? null, health?.lineage ?? null];
	return ours !== null && theirs !== null && ours !== theirs;
}

/** Returns the result of `work`, or its problem. */
async function attempted<T>(work: () => Promise<T>) {
	try {
		return { value: await work(), problem: null };
	} catch (error) {
		return { value: null, problem: errorMessage(error) };
	}
}

export function statusProblems({ policy, decision_point: { health } }: Found): readonly string[] {
	const problems: string[] = [];
	if (policy?.failure) {
		problems.push(`the schema of revision ${policy.failure.revision} does not compile: ${policy.failure.message}`);
	} else if (policy?.degraded) {
		const { detail, since } = policy.degraded;
		const why = detail === '' ? `the newest schema has been compiling since ${since}` : detail;
		problems.push(`the active policy is out of date: ${why}`);
	}
	if (areApart(policy, health)) {
		problems.push(`the lineage of the decision point (${health?.lineage}) differs from the database lineage`);
	}
	const unwell = health === null ? null : healthProblem(health);
	return unwell === null ? problems : [...problems, unwell];
}

/**
 * Returns a reachable decision point's problem; `null` if it has none. Reads `state`, because a stale decision point
 * still decides and therefore reports the status `ok`.
 */
export function healthProblem({ state, detail, degraded }: Health): string | null {
	if (state !== 'ready') return `the decision point is ${state}${detail === null ? '' : `: ${detail}`}`;
	return degraded === null ? null : `the decision point uses an outdated or incomplete policy: ${degraded.reason}`;
}

function inLineage(of: { readonly lineage: string | null } | null): string {
	return of?.lineage == null ? '' : `, lineage ${of.lineage}`;
}

function lagText(lag: number | null): string {
	if (lag === null) return '';
	return lag < 0 ? ` (${-lag} ahead)` : ` (${lag} behind)`;
}

/** Formats the status as human-readable text. */
export function statusText({ api, policy, decision_point }: Found, problems: readonly string[]): string {
	const { url, health, lag } = decision_point;
	const compiled = policy?.compiled_revision ?? null;
	const lines = [
		`API             ${api.url}`,
		`  environment   ${visible(api.environment ?? 'unknown')}`,
		`  revision      ${policy?.revision ?? 'unknown'}${inLineage(policy)}`,
		`  policy        ${compiled === null ? 'unknown' : `schema revision ${compiled} (newest: ${policy?.schema_revision})`}`,
		`Decision point  ${url}`,
		`  state         ${health === null ? 'unknown' : `${health.status}, ${health.state}`}`,
		`  revision      ${health?.revision ?? 'unknown'}${inLineage(health)}${lagText(lag)}`,
		`  policy        ${health?.policy_revision == null ? 'unknown' : `revision ${health.policy_revision}`}`,
		...problems.map((problem) => `! ${problem.split('\n').map(visible).join('\n  ')}`),
	];
	return `${lines.join('\n')}\n`;
}
