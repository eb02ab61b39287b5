/** Everything that can go wrong on purpose: one class, one catalogue; docs and answers read the same table. */

interface Entry {
	readonly status: number;
	/** The contract's closed list of codes; a value outside it makes clients lose the error's type. */
	readonly error_code: string;
	readonly title: string;
	/** After how many seconds it may be tried again, where that is known: the header `Retry-After`. */
	readonly retry_after?: number;
}

/** Every deliberate failure: its HTTP status, the wire's `error_code` and its title (spec: Errors). */
export const catalogue = {
	invalid: { status: 400, error_code: 'INVALID_INPUT', title: 'The request is not valid' },
	invalid_permission: {
		status: 400,
		error_code: 'INVALID_PERMISSION_FORMAT',
		title: 'The permission is not of the form resource:action',
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
		title: 'The keys that sign the tokens of users cannot be used',
	},
	limit_reached: { status: 400, error_code: 'INVALID_INPUT', title: 'The request would exceed a limit' },
	unauthorized: { status: 401, error_code: 'UNAUTHORIZED', title: 'The API key is missing or unknown' },
	signed_out: { status: 401, error_code: 'UNAUTHORIZED', title: 'Nobody is signed in' },
	forbidden: { status: 403, error_code: 'FORBIDDEN_ACCESS', title: 'The API key does not give access to this' },
	foreign_origin: { status: 403, error_code: 'FORBIDDEN_ACCESS', title: 'A page of this origin may not do this' },
	not_found: { status: 404, error_code: 'NOT_FOUND', title: 'The requested object could not be found' },
	// The titles are the contract's own names for failures of a sign-in; its list of codes has none for them.
	user_not_found: { status: 404, error_code: 'NOT_FOUND', title: 'USER_NOT_FOUND' },
	hidden_user: { status: 403, error_code: 'FORBIDDEN_ACCESS', title: 'INVALID_PERMISSION_LEVEL' },
	tenant_not_found: { status: 404, error_code: 'NOT_FOUND', title: 'TENANT_NOT_FOUND' },
	method: { status: 405, error_code: 'INVALID_INPUT', title: 'The method is not served on this path' },
	late: { status: 408, error_code: 'INVALID_INPUT', title: 'The request took too long to arrive' },
	duplicate: { status: 409, error_code: 'DUPLICATE_ENTITY', title: 'This object already exists' },
	conflict: { status: 409, error_code: 'INVALID_INPUT', title: 'The object is not in a state that allows this' },
	environment_deleted: { status: 410, error_code: 'NOT_FOUND', title: 'The environment of the API key was deleted' },
	gone: { status: 410, error_code: 'NOT_FOUND', title: 'This version of the API is no longer served' },
	not_kept: { status: 410, error_code: 'NOT_FOUND', title: 'The revision is no longer kept' },
	too_large: { status: 413, error_code: 'INVALID_INPUT', title: 'The request body is too large' },
	unprocessable: { status: 422, error_code: 'INVALID_INPUT', title: 'The request body is not valid' },
	not_synced: {
		status: 424,
		error_code: 'UNEXPECTED_ERROR',
		title: 'The change was made but has not reached this decision point yet',
	},
	busy: {
		status: 429,
		error_code: 'UNEXPECTED_ERROR',
		title: 'Too many requests of this kind wait already',
		retry_after: 5,
	},
	log_full: {
		status: 429,
		error_code: 'UNEXPECTED_ERROR',
		title: 'The decision log of the environment is full',
		retry_after: 60,
	},
	unexpected: { status: 500, error_code: 'UNEXPECTED_ERROR', title: 'Something failed on our side' },
	unreachable: { status: 502, error_code: 'UNEXPECTED_ERROR', title: 'The control plane cannot be reached' },
	no_decision_point: {
		status: 502,
		error_code: 'UNEXPECTED_ERROR',
		title: 'The decision point of the environment cannot be asked',
	},
	unavailable: { status: 503, error_code: 'UNEXPECTED_ERROR', title: 'The service is not ready to answer yet' },
	no_space: { status: 507, error_code: 'UNEXPECTED_ERROR', title: 'There is no space left to store this' },
} as const satisfies Record<string, Entry>;

/** The name of a deliberate failure. */
export type FailureCode = keyof typeof catalogue;

/** A place in a request and what is wrong there; the wire's 422 `detail` is a list of these. */
export interface Problem {
	readonly loc: readonly (string | number)[];
	readonly msg: string;
	readonly type: string;
}

/** The most problems that a failure lists. Who fixes these sees the next. */
export const maxProblems = 20;

/** How long the parts of a failure may be, in UTF-16 code units. */
const maxMessageLength = 2_000;
const maxStepLength = 128;
const maxPlaceLength = 512;
/** How much all problems of a failure may take in an answer, in bytes. */
const maxBytes = 48 * 1024;

/**
 * A request stopped at its first failure. `message` is a sentence for the caller, with their input in backquotes. Long
 * parts are cut.
 */
export class Failure extends Error {
	override readonly name = 'Failure';
	/** For `unprocessable` only: the first of the given problems, at most `maxProblems`. */
	readonly problems: readonly Problem[];

	constructor(
		readonly code: FailureCode,
		message: string,
		/** What the catalogue cannot say: further facts for the caller. */
		readonly info: unknown = null,
		problems: readonly Problem[] = [],
	) {
		super(cut(message, maxMessageLength));
		this.problems = bounded(problems);
	}

	get status(): number {
		return catalogue[this.code].status;
	}

	/** After how many seconds the caller may try again, where that is known. */
	get retryAfter(): number | undefined {
		const entry: Entry = catalogue[this.code];
		return entry.retry_after;
	}
}

/** What is wrong, in words: the message of an error, or the text of whatever else was thrown. */
export function errorMessage(thrown: unknown): string {
	return thrown instanceof Error ? thrown.message : String(thrown);
}

/** No object of this kind has this id or key in the caller's scope. */
export function notFound(kind: string, reference: string): Failure {
	return new Failure('not_found', `could not find '${kind}' with the given filters: id='${reference}'`);
}

/** An object of this kind with this key exists already. */
export function duplicate(kind: string, key: string): Failure {
	return new Failure('duplicate', `a ${kind} with key \`${key}\` already exists`);
}

/** The caller's key may not do this. */
export function forbidden(message: string): Failure {
	return new Failure('forbidden', message);
}

/** The request's content is wrong in the places listed. */
export function unprocessable(problems: readonly Problem[]): Failure {
	const named = bounded(problems);
	const summary = named.map((problem) => `${problem.loc.join('.')}: ${problem.msg}`).join('; ');
	return new Failure('unprocessable', summary, null, named);
}

/** The first problems, as many as fit into an answer, with long texts cut. */
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

/** A place, cut after its beginning if it is too long. */
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
