/** All deliberate failures: an error class, and a catalogue shared by documentation and responses. */

interface Entry {
	readonly status: number;
	/** A value from the closed list in the API contract. Clients cannot map any other value to an error type. */
	readonly error_code: string;
	readonly title: string;
	/** Time in seconds until the caller may retry, if known. Sent in the header `Retry-After`. */
	readonly retry_after?: number;
}

/** Deliberate failures, each with its HTTP status, its `error_code` and its title. */
export const catalogue = {
	invalid: { status: 400, error_code: 'INVALID_INPUT', title: 'The request is not valid' },
	invalid_permission: {
		status: 400,
		error_code: 'INVALID_PERMISSION_FORMAT',
		title: 'The permission does not have the form resource:action',
	},
	mismatched_tenants: {
		status: 400,
		error_code: 'MISMATCH_RESOURCE_INSTANCES_TENANTS',
		title: 'The resource instances are not in the same tenant',
	},
	mismatched_relation: {
		status: 400,
		error_code: 'MISMATCH_RELATION_TYPE',
		title: 'The relation does not connect instances of these types',
	},
	invalid_jwks: {
		status: 400,
		error_code: 'INVALID_JWKS_CONFIGURATION',
		title: 'The verification keys for user tokens are unusable',
	},
	limit_reached: { status: 400, error_code: 'INVALID_INPUT', title: 'The request would exceed a limit' },
	unauthorized: { status: 401, error_code: 'UNAUTHORIZED', title: 'The API key is missing or unknown' },
	signed_out: { status: 401, error_code: 'UNAUTHORIZED', title: 'No user is signed in' },
	forbidden: { status: 403, error_code: 'FORBIDDEN_ACCESS', title: 'The API key does not give access to this' },
	foreign_origin: {
		status: 403,
		error_code: 'FORBIDDEN_ACCESS',
		title: 'Pages of this origin are not permitted to do this',
	},
	contextual_facts_off: {
		status: 403,
		error_code: 'FORBIDDEN_ACCESS',
		title: 'The environment does not allow contextual facts',
	},
	not_found: { status: 404, error_code: 'NOT_FOUND', title: 'The requested object could not be found' },
	// The contract's code list has no codes for sign-in failures. Their titles are the names from the contract instead.
	user_not_found: { status: 404, error_code: 'NOT_FOUND', title: 'USER_NOT_FOUND' },
	hidden_user: { status: 403, error_code: 'FORBIDDEN_ACCESS', title: 'INVALID_PERMISSION_LEVEL' },
	tenant_not_found: { status: 404, error_code: 'NOT_FOUND', title: 'TENANT_NOT_FOUND' },
	method: { status: 405, error_code: 'INVALID_INPUT', title: 'The method is not served on this path' },
	late: { status: 408, error_code: 'INVALID_INPUT', title: 'The request took too long to arrive' },
	duplicate: { status: 409, error_code: 'DUPLICATE_ENTITY', title: 'This object already exists' },
	conflict: { status: 409, error_code: 'INVALID_INPUT', title: 'The object is not in a state that allows this' },
	environment_deleted: { status: 410, error_code: 'NOT_FOUND', title: 'The environment of the API key was deleted' },
	gone: { status: 410, error_code: 'NOT_FOUND', title: 'This API version is no longer supported' },
	not_kept: { status: 410, error_code: 'NOT_FOUND', title: 'The revision is no longer stored' },
	too_large: { status: 413, error_code: 'INVALID_INPUT', title: 'The request body is too large' },
	unprocessable: { status: 422, error_code: 'INVALID_INPUT', title: 'The request body is not valid' },
	not_synced: {
		status: 424,
		error_code: 'UNEXPECTED_ERROR',
		title: 'The change was stored, but has not reached this decision point yet',
	},
	busy: {
		status: 429,
		error_code: 'UNEXPECTED_ERROR',
		title: 'Too many requests of this kind are queued',
		retry_after: 5,
	},
	log_full: {
		status: 429,
		error_code: 'UNEXPECTED_ERROR',
		title: "The environment's decision log is full",
		retry_after: 60,
	},
	unexpected: { status: 500, error_code: 'UNEXPECTED_ERROR', title: 'Internal server error' },
	unreachable: { status: 502, error_code: 'UNEXPECTED_ERROR', title: 'The control plane is unreachable' },
	no_decision_point: {
		status: 502,
		error_code: 'UNEXPECTED_ERROR',
		title: "The environment's decision point is unavailable",
	},
	unavailable: { status: 503, error_code: 'UNEXPECTED_ERROR', title: 'The service is not ready yet' },
	no_space: { status: 507, error_code: 'UNEXPECTED_ERROR', title: 'There is not enough disk space' },
} as const satisfies Record<string, Entry>;

export type FailureCode = keyof typeof catalogue;

/** A problem in a request, with its location. The `detail` in a 422 response is a list of problems. */
export interface Problem {
	readonly loc: readonly (string | number)[];
	readonly msg: string;
	readonly type: string;
}

/** Maximum number of problems per failure. After fixing these problems, the caller sees the next problems. */
export const maxProblems = 20;

/** Maximum lengths in UTF-16 code units. */
const maxMessageLength = 2_000;
const maxStepLength = 128;
const maxPlaceLength = 512;
/** Maximum total size of the problems in a response, in bytes. */
const maxBytes = 48 * 1024;

/**
 * Failure of a request, thrown at the first problem. `message` is a sentence for the caller. Input from the caller is
 * in backquotes. Long parts are truncated.
 */
export class Failure extends Error {
	override readonly name = 'Failure';
	/** The first problems, at most `maxProblems`. Only `unprocessable` failures have problems. */
	readonly problems: readonly Problem[];

	constructor(
		readonly code: FailureCode,
		message: string,
		/** Additional data for the caller. */
		readonly info: unknown = null,
		problems: readonly Problem[] = [],
	) {
		super(cut(message, maxMessageLength));
		this.problems = bounded(problems);
	}

	get status(): number {
		return catalogue[this.code].status;
	}

	/** Time in seconds until the caller may retry, if known. */
	get retryAfter(): number | undefined {
		const entry: Entry = catalogue[this.code];
		return entry.retry_after;
	}
}

/** Returns an error's message. For any other thrown value, returns the value as text. */
export function errorMessage(thrown: unknown): string {
	return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns the failure for an unknown id or key in the caller's scope. */
export function notFound(kind: string, reference: string): Failure {
	return new Failure('not_found', `could not find '${kind}' with the given filters: id='${reference}'`);
}

/** A relationship whose subject type does not match its relation. `subject` is `<resource key>:<instance key>`. */
export interface MismatchedRelation {
	readonly subject: string;
	readonly subjectType: string;
	readonly relation: string;
	readonly objectType: string;
}

/** Returns the failure for a relationship whose subject has the wrong type. */
export function mismatchedRelation({ subject, subjectType, relation, objectType }: MismatchedRelation): Failure {
	return new Failure(
		'mismatched_relation',
		`instances of \`${subjectType}\`, such as \`${subject}\`, cannot be the subject of the relation ` +
			`\`${relation}\` of \`${objectType}\``,
	);
}

/** An instance with its tenant. */
interface InstanceInTenant {
	readonly name: string;
	readonly tenant: string;
}

/** Returns the failure for a relationship between instances in different tenants. */
export function mismatchedTenants(subject: InstanceInTenant, object: InstanceInTenant): Failure {
	return new Failure(
		'mismatched_tenants',
		`the subject \`${subject.name}\` is in the tenant \`${subject.tenant}\`, ` +
			`the object \`${object.name}\` in \`${object.tenant}\``,
	);
}

/** Returns the failure for a key that is already in use. */
export function duplicate(kind: string, key: string): Failure {
	return new Failure('duplicate', `a ${kind} with key \`${key}\` already exists`);
}

export function forbidden(message: string): Failure {
	return new Failure('forbidden', message);
}

/** Returns the failure for the assignment of a computed role, whose expression is given in words. */
export function notAssignable(role: string, words: string): Failure {
	return new Failure('invalid', `the role \`${role}\` is computed from other roles and cannot be assigned: ${words}`);
}

/** Returns the failure for invalid request content, with the location of each problem. */
export function unprocessable(problems: readonly Problem[]): Failure {
	const named = bounded(problems);
	const summary = named.map((problem) => `${problem.loc.join('.')}: ${problem.msg}`).join('; ');
	return new Failure('unprocessable', summary, null, named);
}

/** Returns as many problems as fit into a response. Truncates long strings. */
function bounded(problems: readonly Problem[]): readonly Problem[] {
	const kept: Problem[] = [];
	let left = maxBytes;
	for (const { loc, msg, type } of problems.slice(0, maxProblems)) {
		const short = { loc: shortPlace(loc), msg: cut(msg, maxMessageLength), type };
		left -= new TextEncoder().encode(JSON.stringify(short)).length;
		if (left < 0) break;
		kept.push(short);
	}
	return kept;
}

/** Cuts the end of a location if it is too long. */
function shortPlace(loc: Problem['loc']): Problem['loc'] {
	const short: (string | number)[] = [];
	let left = maxPlaceLength;
	for (const step of loc) {
		if (left <= 0) return [...short, ellipsis];
		const shown = typeof step === 'string' ? cut(step, maxStepLength) : step;
		short.push(shown);
		left -= String(shown).length + 1;
	}
	return short;
}

const ellipsis = '…';

function cut(text: string, longest: number): string {
	return text.length <= longest ? text : `${text.slice(0, longest)}${ellipsis}`;
}
