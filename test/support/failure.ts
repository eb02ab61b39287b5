import type { Assertions } from 'ava';
import type { Answer } from './client.js';

/** The API's error codes, keyed by status. The API uses no other combinations. */
const codes: Readonly<Record<number, readonly string[]>> = {
	400: [
		'INVALID_INPUT',
		'INVALID_JWKS_CONFIGURATION',
		'INVALID_PERMISSION_FORMAT',
		'MISMATCH_RESOURCE_INSTANCES_TENANTS',
		'MISMATCH_RELATION_TYPE',
	],
	401: ['UNAUTHORIZED'],
	403: ['FORBIDDEN_ACCESS'],
	404: ['NOT_FOUND'],
	405: ['INVALID_INPUT'],
	409: ['DUPLICATE_ENTITY', 'INVALID_INPUT'],
	410: ['NOT_FOUND'],
	413: ['INVALID_INPUT'],
	429: ['UNEXPECTED_ERROR'],
};

const members = ['id', 'title', 'error_code', 'message', 'support_link', 'additional_info'].sort();

/**
 * Returns the problem with a failure response from the management API, or `null` if the response is as documented: a
 * 422 contains at most twenty problems with their locations, any other failure has a body with six fields, and the
 * content type is exactly `application/json`.
 */
export function complaint(answer: Answer<unknown>): string | null {
	const { status, headers, body } = answer;
	if (headers.get('content-type') !== 'application/json') return `content type ${headers.get('content-type')}`;
	if (status === 422) return isValidation(body) ? null : 'not the body of a 422';
	if (!isRecord(body) || Object.keys(body).sort().join() !== members.join()) return 'not the six fields';
	const { id, title, error_code, message, support_link } = body;
	if (!codes[status]?.includes(String(error_code))) return `${status} with the code ${String(error_code)}`;
	if (id !== headers.get('x-request-id')) return 'the id differs from the header';
	if (typeof title !== 'string' || title === '' || typeof message !== 'string' || message === '')
		return 'the title or message is empty';
	return support_link === null ? null : 'a support link';
}

function isValidation(body: unknown): boolean {
	const detail = isRecord(body) && Object.keys(body).join() === 'detail' ? body['detail'] : undefined;
	return Array.isArray(detail) && detail.length > 0 && detail.length <= 20 && detail.every(isProblem);
}

function isProblem(problem: unknown): boolean {
	if (!isRecord(problem) || Object.keys(problem).sort().join() !== 'loc,msg,type') return false;
	const { loc, msg, type } = problem;
	const steps = Array.isArray(loc) && loc.every((step) => typeof step === 'string' || Number.isInteger(step));
	return steps && ['body', 'query', 'path'].includes(loc[0]) && typeof msg === 'string' && typeof type === 'string';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Asserts that a response is the documented failure and contains `text`, which names the field or the value. */
export function fails(t: Assertions, answer: Answer<unknown>, status: number, text = ''): void {
	const shown = JSON.stringify(answer.body);
	t.is(answer.status, status, shown);
	t.is(complaint(answer), null, shown);
	t.true(shown.includes(text), `${shown} does not mention ${text}`);
}

/** Returns the problem locations in a 422 as strings such as `body.actions.bad key.name`. */
export function problemPlaces(answer: Answer<unknown>): readonly string[] {
	const { detail } = answer.body as { readonly detail: readonly { readonly loc: readonly unknown[] }[] };
	return detail.map(({ loc }) => loc.join('.'));
}
