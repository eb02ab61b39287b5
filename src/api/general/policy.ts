import { methods, reply } from '../../http/endpoint.js';
import { type Counters, policyState } from '../../store/policy/policy-state.js';
import type { PolicyInForce, Publications } from '../../store/policy/publications.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { PolicyRead } from '../../wire/general/policy.js';
import { EnvironmentPath, endpoint } from '../access.js';

/** Rego generated for an environment. */
export const policy = [
	endpoint({
		...methods({ tag: 'Policy', path: '/v2/projects/:proj_id/:env_id/policy', params: EnvironmentPath }).get,
		name: 'getPolicy',
		summary: 'Get the active policy of an environment and the compilation state',
		description:
			'`hash` and `files` belong to the policy that decision points load, compiled from the schema at ' +
			'`compiled_revision`. If `compiled_revision` is less than `schema_revision`, a compilation is running or has ' +
			'failed. After a failure, `failure` gives the reason and the previous policy stays active.',
		access: 'environment.read',
		returns: { 200: PolicyRead },
		failures: { 404: 'No such project or environment' },
		handle: async (_, { environment, policies, unit }) => {
			const publications = await policies.publications(environment.id);
			const { live, failed } = publications;
			const files = live === null ? null : await policies.files(live.digest);
			const failure = failed && {
				revision: failed.failed_revision,
				message: [failed.failure.message, ...failed.failure.details].join('\n'),
			};
			return reply(200, {
				revision: environment.revision,
				lineage: (await unit.counters()).lineage,
				schema_revision: environment.schema_revision,
				hash: live?.digest ?? null,
				compiled_revision: live?.schema_revision ?? null,
				published_at: live?.published_at ?? null,
				failure,
				degraded: live && (await readDegradation(unit, environment, live, publications)),
				files: [...(files ?? [])],
			});
		},
	}),
];

async function readDegradation(
	unit: ReadingUnit,
	environment: Counters,
	live: PolicyInForce,
	publications: Publications,
): Promise<PolicyRead['degraded']> {
	const changeAfter = (revision: number) => unit.schemaChangeAfter(revision);
	const { policy_revision, degraded } = await policyState(environment, live, publications, changeAfter);
	if (degraded === null) return null;
	const { reason, since, detail } = degraded;
	return {
		reason,
		since,
		detail,
		policy_revision,
		revisions_behind: environment.revision - policy_revision,
		left_out: [...live.left_out],
	};
}
