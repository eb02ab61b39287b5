import { z } from 'zod';
import { ConfigError } from '../config.js';
import { plainMessage } from '../console/model/plain-message.js';
import { isRevision } from './revision-word.js';
import { visible } from './terminal.js';

/** API key, and the variable that sets it. */
export interface ApiKey {
	readonly secret: string;
	readonly variable: string;
}

/** Server to call: the management API or a decision point. */
export interface Server {
	/** URL without a trailing slash. */
	readonly url: string;
	/** Option or variable that sets the server's URL. */
	readonly source: string;
	readonly key: ApiKey;
}

/** Request options, including the response timeout in milliseconds. The default method is GET. */
export interface Question {
	readonly method?: 'POST' | 'DELETE';
	/** Sent as JSON, except that bytes are sent unchanged. */
	readonly body?: unknown;
	readonly headers?: Readonly<Record<string, string>>;
	readonly timeout?: number;
}

export interface Answer<T = Uint8Array> {
	readonly body: T;
	/** Revision in `X-Revision`: the revision created by a write, or the revision behind a decision. */
	readonly revision: number | null;
}

/** Default response timeout, in milliseconds. */
const usualTimeout = 60_000;

/** Response with any status. */
interface AnyAnswer extends Answer {
	readonly status: number;
}

/** Error for a missing or incomplete response. The message is the reason. */
class NoAnswerError extends Error {
	constructor(
		readonly kind: 'unreachable' | 'late' | 'broken off',
		cause: unknown,
	) {
		super(failureReason(cause), { cause });
	}
}

/** Sends a request and reads the whole response. Throws `NoAnswerError`. */
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
		// A redirect would send the request, and perhaps the key, to an unintended server.
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
 * Calls a server. Throws `ConfigError` if the server cannot be reached, returns a failure status, or breaks off its
 * response.
 */
export async function ask(server: Server, path: string, question: Question = {}): Promise<Answer> {
	const asked = `${question.method ?? 'GET'} ${server.url}${path}`;
	const answer = await exchange(server.url + path, server.key.secret, question).catch((error: unknown) => {
		throw error instanceof NoAnswerError ? unanswered(server, asked, error) : error;
	});
	const { status, body } = answer;
	if (status >= 200 && status < 300) return answer;
	throw new ConfigError(
		`${refusal(decodeText(body), status)}\n(${status} from ${asked}, with the key in ${server.key.variable})`,
	);
}

/** Calls a server and parses its JSON response. Throws `ConfigError` if this fails. */
export async function askFor<S extends z.ZodType>(
	server: Server,
	path: string,
	shape: S,
	question: Question = {},
): Promise<Answer<z.output<S>>> {
	const { body, revision } = await ask(server, path, question);
	const parsed = shape.safeParse(parseJsonBytes(body));
	if (parsed.success) return { body: parsed.data, revision };
	throw new ConfigError(`${server.url} sent an unexpected response for ${path}. Check ${server.source}.`, {
		cause: parsed.error,
	});
}

/** Maximum number of items per list page. */
const pageSize = 100;

/** Reads all pages of a list, or its first `most` items. Throws `ConfigError` if this fails. */
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

/** Formats filters as a URL query and omits undefined filters. */
export function queryText(filters: Readonly<Record<string, string | undefined>>): string {
	const given = Object.entries(filters).flatMap(([name, value]) =>
		value === undefined ? [] : [[name, value] as [string, string]],
	);
	return `?${new URLSearchParams(given)}`;
}

/**
 * Builds a path. Each value (a key or id) becomes one encoded segment. Throws `ConfigError` for an empty value, and for
 * `.` and `..`, which are valid keys but not valid path segments.
 */
export function path(texts: TemplateStringsArray, ...values: readonly string[]): string {
	const segments = values.map((value) => {
		if (value === '') throw new ConfigError('An empty string is not a valid key or ID.');
		if (/^\.{1,2}$/.test(value)) {
			throw new ConfigError(`The key \`${value}\` cannot be part of a URL. Use the ID instead.`);
		}
		return encodeURIComponent(value);
	});
	return String.raw({ raw: texts }, ...segments);
}

/** Returns the revision in a response; `null` if there is none. */
function answeredRevision({ headers }: Response): number | null {
	const header = headers.get('x-revision') ?? '';
	return isRevision(header) ? Number(header) : null;
}

export function decodeText(body: Uint8Array): string {
	return new TextDecoder().decode(body);
}

/** Parses a JSON body; `null` if it is not JSON. */
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

/** Returns the error message in a response body. */
function refusal(body: string, status: number): string {
	const parsed = Refusal.safeParse(parseJson(body));
	const message = parsed.success ? parsed.data.trim() : '';
	return message === ''
		? `The server returned status ${status}.`
		: plainMessage(message).split('\n').map(visible).join('\n');
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

/** Returns the operator error for a request without a response. */
function unanswered({ url, source }: Server, asked: string, error: NoAnswerError): ConfigError {
	const remedy = source.startsWith('--') ? `pass a different URL with ${source}` : `set ${source} to its URL`;
	const messages = {
		unreachable: `Cannot connect to ${url} (${error.message}). Start the server, or ${remedy}.`,
		late: `${url} did not respond in time.`,
		'broken off': `The connection was closed before the response was complete: ${asked} (${error.message})`,
	} as const;
	return new ConfigError(messages[error.kind], { cause: error });
}

function isTimeout(error: unknown): boolean {
	return error instanceof Error && error.name === 'TimeoutError';
}

/**
 * Returns the reason from a `fetch` error's cause. If several addresses failed, each has a cause, and the first is
 * returned.
 */
function failureReason(error: unknown): string {
	const cause = error instanceof Error ? (error.cause ?? error) : error;
	if (cause instanceof AggregateError && cause.errors.length > 0) return failureReason(cause.errors[0]);
	return cause instanceof Error ? visible(cause.message) : String(cause);
}
