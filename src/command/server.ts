import { z } from 'zod';
import { ConfigError } from '../config.js';
import { isRevision } from './revision-word.js';
import { visible } from './terminal.js';

/** An API key and the variable that it came from. */
export interface ApiKey {
	readonly secret: string;
	readonly variable: string;
}

/** A server to ask: the management API, or a decision point. */
export interface Server {
	/** Without a slash at its end. */
	readonly url: string;
	/** The option or the variable that named it, or that would name another one. */
	readonly source: string;
	readonly key: ApiKey;
}

/** What is sent, and how long the answer may take, in milliseconds. A GET request unless `method` says otherwise. */
export interface Question {
	readonly method?: 'POST' | 'DELETE';
	/** Sent as JSON; bytes are sent as they are. */
	readonly body?: unknown;
	readonly headers?: Readonly<Record<string, string>>;
	readonly timeout?: number;
}

/** What a server answered. */
export interface Answer<T = Uint8Array> {
	readonly body: T;
	/** `X-Revision`: of a write, the revision that it made; of a decision, the one that it was made from. */
	readonly revision: number | null;
}

/** How long an answer may take unless the question says otherwise, in milliseconds. */
const usualTimeout = 60_000;

/** An answer of any status. */
interface AnyAnswer extends Answer {
	readonly status: number;
}

/** What keeps an answer from coming, or from coming whole. The message is the reason. */
class NoAnswerError extends Error {
	constructor(
		readonly kind: 'unreachable' | 'late' | 'broken off',
		cause: unknown,
	) {
		super(failureReason(cause), { cause });
	}
}

/** Sends a request and reads the answer to its end. Throws `NoAnswerError`. */
export async function exchange(url: string, secret: string | null, question: Question = {}): Promise<AnyAnswer> {
	const { method = 'GET', body, headers = {}, timeout = usualTimeout } = question;
	const response = await fetch(url, {
		method,
		headers: {
			...headers,
			...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
			...(body === undefined ? {} : { 'content-type': 'application/json' }),
		},
		body: body === undefined || body instanceof Uint8Array ? (body ?? null) : JSON.stringify(body),
		// A redirection would carry the question, and perhaps the key, to where nobody sent it.
		redirect: 'manual',
		signal: AbortSignal.timeout(timeout),
	}).catch((error: unknown) => {
		throw new NoAnswerError(isTimeout(error) ? 'late' : 'unreachable', error);
	});
	const bytes = await response.arrayBuffer().catch((error: unknown) => {
		throw new NoAnswerError(isTimeout(error) ? 'late' : 'broken off', error);
	});
	return { status: response.status, body: new Uint8Array(bytes), revision: answeredRevision(response) };
}

/**
 * Asks a server. Throws `ConfigError` if it cannot be reached, answers anything but success, or does not answer to the
 * end.
 */
export async function ask(server: Server, path: string, question: Question = {}): Promise<Answer> {
	const asked = `${question.method ?? 'GET'} ${server.url}${path}`;
	const answer = await exchange(server.url + path, server.key.secret, question).catch((error: unknown) => {
		throw error instanceof NoAnswerError ? unanswered(server, asked, error) : error;
	});
	const { status, body } = answer;
	if (status >= 200 && status < 300) return answer;
	throw new ConfigError(
		`${refusal(decodeText(body), status)}\n(${status} from ${asked}, with the API key of ${server.key.variable})`,
	);
}

/** Asks a server for JSON of this shape. Throws `ConfigError` if that fails. */
export async function askFor<S extends z.ZodType>(
	server: Server,
	path: string,
	shape: S,
	question: Question = {},
): Promise<Answer<z.output<S>>> {
	const { body, revision } = await ask(server, path, question);
	const parsed = shape.safeParse(parseJsonBytes(body));
	if (parsed.success) return { body: parsed.data, revision };
	throw new ConfigError(
		`${server.url} did not answer as version 2 does on ${path}: is it what ${server.source} should name?`,
		{ cause: parsed.error },
	);
}

/** The most items of one page of a list. */
const pageSize = 100;

/** Asks for all pages of a list, or for its first `most` items. Throws `ConfigError` if that fails. */
export async function askForAll<S extends z.ZodType>(
	server: Server,
	path: string,
	item: S,
	filters: Readonly<Record<string, string | undefined>> = {},
	most = Number.POSITIVE_INFINITY,
): Promise<readonly z.output<S>[]> {
	const page = z.union([z.array(item), z.object({ data: z.array(item) }).transform(({ data }) => data)]);
	const found: z.output<S>[] = [];
	for (let number = 1; ; number += 1) {
		const query = queryText({ ...filters, per_page: String(pageSize), page: String(number) });
		const { body } = await askFor(server, path + query, page);
		found.push(...body);
		if (body.length < pageSize || found.length >= most) return found.slice(0, most);
	}
}

/** Filters as the query of a path; those that are undefined are left out. */
export function queryText(filters: Readonly<Record<string, string | undefined>>): string {
	const given = Object.entries(filters).flatMap(([name, value]) =>
		value === undefined ? [] : [[name, value] as [string, string]],
	);
	return `?${new URLSearchParams(given)}`;
}

/**
 * A path of which each value, a key or an id, is one segment, whatever characters it has. Throws `ConfigError` for `.`
 * and `..`, which are valid keys that no path can hold.
 */
export function path(texts: TemplateStringsArray, ...values: readonly string[]): string {
	const segments = values.map((value) => {
		if (value === '') throw new ConfigError('an empty text is neither a key nor an id');
		if (/^\.{1,2}$/.test(value)) {
			throw new ConfigError(`\`${value}\` cannot stand in the path of a request: use the id in place of this key`);
		}
		return encodeURIComponent(value);
	});
	return String.raw({ raw: texts }, ...segments);
}

/** The revision that an answer names; `null` if it names none. */
function answeredRevision({ headers }: Response): number | null {
	const header = headers.get('x-revision') ?? '';
	return isRevision(header) ? Number(header) : null;
}

/** The text of a body. */
export function decodeText(body: Uint8Array): string {
	return new TextDecoder().decode(body);
}

/** The value of a body that is JSON; `null` if it is none. */
export function parseJsonBytes(body: Uint8Array): unknown {
	return parseJson(decodeText(body));
}

const Problems = z.object({
	detail: z.array(z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })).min(1),
});
const Refusal = z.union([
	z.object({ message: z.string() }).transform(({ message }) => message),
	z.object({ detail: z.string() }).transform(({ detail }) => detail),
	Problems.transform(({ detail }) => detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('\n')),
]);

/** What the body of an answer says went wrong. */
function refusal(body: string, status: number): string {
	const parsed = Refusal.safeParse(parseJson(body));
	const message = parsed.success ? parsed.data.trim() : '';
	return message === '' ? `the server refused: ${status}` : message.split('\n').map(visible).join('\n');
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

/** The failure of a request that got no answer, for the operator. */
function unanswered({ url, source }: Server, asked: string, error: NoAnswerError): ConfigError {
	const remedy = source.startsWith('--') ? `name another with ${source}` : `set ${source} to where it listens`;
	const messages = {
		unreachable: `nothing can be reached at ${url} (${error.message}): start it, or ${remedy}`,
		late: `${url} did not answer in time`,
		'broken off': `the connection broke off before the answer was complete: ${asked} (${error.message})`,
	} as const;
	return new ConfigError(messages[error.kind], { cause: error });
}

function isTimeout(error: unknown): boolean {
	return error instanceof Error && error.name === 'TimeoutError';
}

/** The reason is in the cause of the error that `fetch` throws; of several addresses, each has one. */
function failureReason(error: unknown): string {
	const cause = error instanceof Error ? (error.cause ?? error) : error;
	if (cause instanceof AggregateError && cause.errors.length > 0) return failureReason(cause.errors[0]);
	return cause instanceof Error ? visible(cause.message) : String(cause);
}
