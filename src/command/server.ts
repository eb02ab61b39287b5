import { z } from 'zod';
import { ConfigError } from '../config.js';
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
	/** The variable that names another one. */
	readonly variable: string;
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
export interface Answer<T> {
	readonly body: T;
	/** `X-Revision`: of a write, the revision that it made; of a decision, the one that it was made from. */
	readonly revision: number | null;
}

/** How long an answer may take unless the question says otherwise, in milliseconds. */
const usualTimeout = 60_000;

/** Asks a server. Throws `ConfigError` if it cannot be reached, or answers anything but success. */
export async function ask(server: Server, path: string, question: Question = {}): Promise<Response> {
	const { method = 'GET', body, headers = {}, timeout = usualTimeout } = question;
	const response = await fetch(server.url + path, {
		method,
		headers: {
			...headers,
			authorization: `Bearer ${server.key.secret}`,
			...(body === undefined ? {} : { 'content-type': 'application/json' }),
		},
		body: body === undefined || body instanceof Uint8Array ? (body ?? null) : JSON.stringify(body),
		// A redirection would carry the question, and perhaps the key, to where nobody sent it.
		redirect: 'manual',
		signal: AbortSignal.timeout(timeout),
	}).catch((error: unknown) => {
		throw unreachable(server, error);
	});
	if (response.ok) return response;
	const message = refusal(await response.text().catch(() => ''), response.status);
	const asked = `${response.status} from ${method} ${server.url}${path}`;
	throw new ConfigError(`${message}\n(${asked}, with the API key of ${server.key.variable})`);
}

/** Asks a server for JSON of this shape. Throws `ConfigError` if that fails. */
export async function askFor<S extends z.ZodType>(
	server: Server,
	path: string,
	shape: S,
	question: Question = {},
): Promise<Answer<z.output<S>>> {
	const response = await ask(server, path, question);
	const parsed = shape.safeParse(await response.json().catch(() => null));
	if (parsed.success) return { body: parsed.data, revision: revisionOf(response) };
	throw new ConfigError(
		`${server.url} did not answer as version 2 does on ${path}: is it what ${server.variable} should name?`,
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
 * A path of which each value is one segment, whatever characters it has. Throws `ConfigError` for `.` and `..`, which
 * no path can hold.
 */
export function path(texts: TemplateStringsArray, ...values: readonly string[]): string {
	const segments = values.map((value) => {
		if (/^\.{0,2}$/.test(value)) throw new ConfigError(`\`${value}\` cannot be asked for: it is no key or id`);
		return encodeURIComponent(value);
	});
	return String.raw({ raw: texts }, ...segments);
}

/** The revision that an answer names; `null` if it names none. */
export function revisionOf(response: Response): number | null {
	const header = response.headers.get('x-revision');
	return header !== null && /^\d{1,15}$/.test(header) ? Number(header) : null;
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

/** The failure of a request that got no answer. */
function unreachable({ url, variable }: Server, error: unknown): ConfigError {
	if (error instanceof Error && error.name === 'TimeoutError') {
		return new ConfigError(`${url} did not answer in time`, { cause: error });
	}
	return new ConfigError(
		`nothing can be reached at ${url} (${reasonOf(error)}): start it, or set ${variable} to where it is`,
		{ cause: error },
	);
}

/** The reason is in the cause of the error that `fetch` throws; of several addresses, each has one. */
function reasonOf(error: unknown): string {
	const cause = error instanceof Error ? (error.cause ?? error) : error;
	if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
	return cause instanceof Error ? visible(cause.message) : String(cause);
}
