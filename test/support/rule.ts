/** Access rules, written without looking at the code. Tests compare the API with this table. */

/** API key level. */
export type Level = 'org' | 'project' | 'env';

/** API key access level. */
export type AccessLevel = 'admin' | 'write' | 'read' | 'no_access';

/** An endpoint's requirements. */
export interface Rule {
	/** `nothing`: no key. `key`: a known key. `read`, `write`, `admin`: a key with at least this access level. */
	readonly needs: 'nothing' | 'key' | 'read' | 'write' | 'admin';
	/** Object in the path to which the key must give access. `own`: the key's own scope. */
	readonly of: 'own' | 'organization' | 'project' | 'environment';
	/** Key levels that may call the endpoint; any level if absent. */
	readonly levels?: readonly Level[];
}

const above = { needs: 'write', levels: ['org', 'project'] } as const;

/** Rules for methods and paths. The first matching rule applies. The test fails for a path without a rule. */
const rules: readonly (readonly [place: RegExp, rule: Rule])[] = [
	[/^get \/(healthy|ready|version)$/, { needs: 'nothing', of: 'own' }],
	[/^get \/metrics$/, { needs: 'read', of: 'own', levels: ['org'] }],
	[/^get \/v2\/api-key\/scope$/, { needs: 'key', of: 'own' }],
	[/^get \/v2\/api-key$/, { needs: 'read', of: 'own' }],
	[/^\w+ \/v2\/api-key\b/, { needs: 'admin', of: 'environment' }],

	[/^get \/v2\/orgs(\/active\/org)?$/, { needs: 'read', of: 'own' }],
	[/^get \/v2\/orgs\/:org_id\b/, { needs: 'read', of: 'organization' }],
	[/^\w+ \/v2\/orgs\/:org_id\b/, { needs: 'write', of: 'organization', levels: ['org'] }],

	[/^get \/v2\/projects$/, { needs: 'read', of: 'own' }],
	[/^post \/v2\/projects$/, { needs: 'write', of: 'own', levels: ['org'] }],
	[/^get \/v2\/projects\/:proj_id(\/envs)?$/, { needs: 'read', of: 'project' }],
	[/^\w+ \/v2\/projects\/:proj_id(\/envs)?$/, { ...above, of: 'project' }],
	[/^post \/v2\/projects\/:proj_id\/envs\/:env_id\/copy\b/, { ...above, of: 'environment' }],
	[
		/^post \/v2\/projects\/:proj_id\/envs\/:env_id\/(drafts\/preview|impact|explanation(\/test)?|check_tests\/run|changes\/:revision\/undo)$/,
		{ needs: 'read', of: 'environment' },
	],
	[/^get \/v2\/projects\/:proj_id\/(envs\/)?:env_id\b/, { needs: 'read', of: 'environment' }],
	[/^\w+ \/v2\/projects\/:proj_id\/(envs\/)?:env_id\b/, { needs: 'write', of: 'environment' }],

	[/^get \/v2\/members$/, { needs: 'read', of: 'own' }],
	[/^\w+ \/v2\/pdps\/me\/config$/, { needs: 'read', of: 'own', levels: ['env'] }],
	[/^post (\/v2\/pdps\/me\/state|\/v1\/decision_logs\/ingress)$/, { needs: 'write', of: 'own', levels: ['env'] }],
	[/^get \/v2\/pdps\/:proj_id\/:env_id\/audit_logs\b/, { needs: 'read', of: 'environment' }],
	[/^get \/v2\/pdps\/:proj_id\/:env_id\/(configs|instances)$/, { needs: 'read', of: 'environment' }],
	[/^post \/v2\/pdps\/:proj_id\/:env_id\/configs\/(:pdp_id\/)?refresh$/, { needs: 'write', of: 'environment' }],
	[/^\w+ \/v2\/pdps\/:proj_id\/:env_id\/configs\/:pdp_id\b/, { needs: 'admin', of: 'environment' }],

	[/^post \/v2\/auth\/elements_login_as$/, { needs: 'write', of: 'own', levels: ['env'] }],
	[/^\w+ \/v2\/elements\/:proj_id\/:env_id\/sessions\b/, { needs: 'admin', of: 'environment' }],
	[/^get \/v2\/elements\/:proj_id\/:env_id\/config\/:\w+\/webhook_secret$/, { needs: 'admin', of: 'environment' }],
	[/^get \/v2\/elements\/:proj_id\/:env_id\/config\/:\w+\/webhook_deliveries$/, { needs: 'write', of: 'environment' }],
	[/^get \/v2\/elements\/:proj_id\/:env_id\b/, { needs: 'read', of: 'environment' }],
	[/^\w+ \/v2\/elements\/:proj_id\/:env_id\b/, { needs: 'write', of: 'environment' }],

	[/^get \/v2\/(schema|facts)\/:proj_id\/:env_id\b/, { needs: 'read', of: 'environment' }],
	[/^post \/v2\/schema\/:proj_id\/:env_id\/condition_sets\/(preview|evaluate)$/, { needs: 'read', of: 'environment' }],
	[/^\w+ \/v2\/(schema|facts)\/:proj_id\/:env_id\b/, { needs: 'write', of: 'environment' }],
];

/** Returns the rule for an endpoint. Throws if the table has no matching rule. In that case, add a rule. */
export function endpointRule({ method, path }: { readonly method: string; readonly path: string }): Rule {
	const [, rule] = rules.find(([place]) => place.test(`${method} ${path}`)) ?? [];
	if (rule === undefined) throw new Error(`test/support/rule.ts does not say who may call ${method} ${path}`);
	return rule;
}

/** A caller with an API key or with different credentials. */
export interface Caller {
	readonly name: string;
	/** `null` if the caller has no known key. */
	readonly key: {
		readonly level: Level;
		readonly access: AccessLevel;
		/** True for each level at which the key gives access to the organization, project or environment in the path. */
		readonly opens: Readonly<Record<'organization' | 'project' | 'environment', boolean>>;
		/** True for a console session, which may change nothing above its environment. */
		readonly isSession?: boolean;
	} | null;
}

const order: readonly AccessLevel[] = ['no_access', 'read', 'write', 'admin'];

/** Returns the refusal status for a caller, or `null` if the call is allowed. */
export function refusal({ needs, of, levels }: Rule, { key }: Caller): 401 | 403 | 404 | null {
	if (needs === 'nothing') return null;
	if (key === null) return 401;
	if (needs === 'key') return null;
	if (order.indexOf(key.access) < order.indexOf(needs)) return 403;
	if (levels !== undefined && !levels.includes(key.level)) return 403;
	if (key.isSession && needs === 'write' && of !== 'environment' && levels?.includes('env') === false) return 403;
	if (of === 'own') return null;
	// Other organizations' objects appear missing.
	if (!key.opens.organization) return 404;
	return of === 'organization' || key.opens[of] ? null : 403;
}
