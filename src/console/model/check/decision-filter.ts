/** Decision log filter in an address. An empty string matches everything. */
export interface DecisionFilter {
	readonly user: string;
	readonly action: string;
	readonly resource: string;
	readonly tenant: string;
	/** `allow`, `deny`, or empty for both. */
	readonly decision: string;
	/** Denial code, or `allow`. */
	readonly code: string;
	/** PDP config id. */
	readonly pdp: string;
	/** Start and end time in ISO 8601 (UTC). `to` is exclusive. */
	readonly from: string;
	readonly to: string;
}

const names = [
	'user',
	'action',
	'resource',
	'tenant',
	'decision',
	'code',
	'pdp',
	'from',
	'to',
] as const satisfies readonly (keyof DecisionFilter)[];

/** Reads the filter from an address. */
export function readDecisionFilter(get: (parameter: string) => string): DecisionFilter {
	const [user = '', action = '', resource = '', tenant = '', decision = '', code = '', pdp = '', from = '', to = ''] =
		names.map(get);
	return { user, action, resource, tenant, decision, code, pdp, from, to };
}

/** API parameters for a filter. */
export interface AuditLogParameters {
	readonly users?: string[];
	readonly action?: string;
	readonly resources?: string[];
	readonly tenant?: string;
	readonly decision?: 'true' | 'false';
	readonly code?: string;
	readonly pdp_id?: string;
	readonly timestamp_from?: string;
	readonly timestamp_to?: string;
}

/** Converts a filter to API parameters. The API accepts only whole seconds, so the end is rounded up. */
export function auditLogParameters(filter: DecisionFilter): AuditLogParameters {
	const { user, action, resource, tenant, decision, code, pdp, from, to } = filter;
	const [begin, end] = [seconds(from, Math.floor), seconds(to, Math.ceil)];
	return {
		...(user === '' ? {} : { users: [user] }),
		...(action === '' ? {} : { action }),
		...(resource === '' ? {} : { resources: [resource] }),
		...(tenant === '' ? {} : { tenant }),
		...(decision === 'allow' || decision === 'deny' ? { decision: decision === 'allow' ? 'true' : 'false' } : {}),
		...(code === '' ? {} : { code }),
		...(pdp === '' ? {} : { pdp_id: pdp }),
		...(begin === null ? {} : { timestamp_from: begin }),
		...(end === null ? {} : { timestamp_to: end }),
	};
}

/** True if a filter has any value. */
export function isNarrowed(filter: DecisionFilter): boolean {
	return names.some((name) => filter[name] !== '');
}

function seconds(instant: string, round: (value: number) => number): string | null {
	const time = Date.parse(instant);
	return Number.isNaN(time) || time < 0 ? null : String(round(time / 1000));
}

/** Converts a date and time field's value from the browser's time zone to UTC. An empty field gives an empty string. */
export function fieldInstant(value: string): string {
	const time = new Date(value);
	return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}
