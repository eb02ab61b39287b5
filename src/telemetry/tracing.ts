/** Creates traces through the OpenTelemetry API. The operator provides the SDK that records the traces. */

import type { IncomingHttpHeaders } from 'node:http';
import {
	type Attributes,
	type Context,
	context,
	type Link,
	ProxyTracerProvider,
	propagation,
	ROOT_CONTEXT,
	type Span,
	type SpanContext,
	SpanKind,
	SpanStatusCode,
	TraceFlags,
	trace,
} from '@opentelemetry/api';

/** Tracer name for our spans. */
const instrumentation = 'regolith';

/** Maximum number of writes that are remembered until their revisions are published. */
const maxWrites = 2_000;

/** Maximum number of links from a published step to earlier writes. */
const maxLinks = 100;

/** Request data in a span. Omits the path, which may contain user keys. */
interface AnsweredRequest {
	readonly endpoint: string | undefined;
	readonly route: string | undefined;
	readonly method: string;
	readonly status: number;
	readonly id: string;
}

/** Step between two environment revisions. */
interface Step {
	readonly environment: string;
	readonly from: number;
	readonly to: number;
}

/** Bundle data for a span, known before the bundle is applied. `Applied` contains the data known afterwards. */
interface Bundle {
	readonly bytes: Uint8Array;
	readonly traceparent?: string;
}
interface Applied {
	readonly kind: string;
	readonly revision: number;
}

/**
 * Creates a trace recorder, or returns `null` if no SDK is registered. Tracing then has no cost. Checks only once,
 * because an SDK is registered before the program begins.
 */
export function createTracing(): Tracing | null {
	const provider = trace.getTracerProvider();
	// An SDK may use a second copy of the API. A provider of a different class therefore also means that an SDK is
	// registered.
	const registered = !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(instrumentation);
	return registered ? new Tracing() : null;
}

/** Creates spans for requests, publishing and applying. Together, the spans trace a write to the decision points. */
export class Tracing {
	readonly #tracer = trace.getTracer(instrumentation);
	/** Spans of requests with writes, keyed by environment and revision, oldest first. */
	readonly #writes = new Map<string, SpanContext>();

	/** Handles a request in a span, which continues the caller's trace. */
	readonly request = (
		{ headers }: { readonly headers: IncomingHttpHeaders },
		handle: () => Promise<void>,
	): Promise<void> => {
		// If the SDK instruments `node:http`, it has already begun a span.
		const begun = trace.getActiveSpan() !== undefined;
		const parent = begun ? context.active() : propagation.extract(context.active(), headers);
		return this.#inSpan('request', { kind: SpanKind.SERVER, parent }, handle);
	};

	/** Traces requests served in one step. A span is created after the request, and gets attributes only if sampled. */
	readonly lean = {
		/** If the SDK instruments `node:http`, it has already begun a span. */
		isObserved: () => trace.getActiveSpan() !== undefined,
		answered: (headers: IncomingHttpHeaders, answered: AnsweredRequest & { readonly seconds: number }): void => {
			const startTime = Date.now() - answered.seconds * 1_000;
			const parent = propagation.extract(ROOT_CONTEXT, headers);
			const span = this.#tracer.startSpan('request', { kind: SpanKind.SERVER, startTime }, parent);
			if (!span.isRecording()) return;
			describeAnswer(span, answered);
			span.end();
		},
	};

	/** Adds the response to the current request's span. */
	readonly answered = (answered: AnsweredRequest): void => {
		const span = trace.getActiveSpan();
		if (span !== undefined) describeAnswer(span, answered);
	};

	/** Records the environment revision that the current request wrote. */
	readonly wrote = (environment: string, revision: number): void => {
		const span = trace.getActiveSpan();
		if (span === undefined) return;
		span.setAttribute('regolith.revision', revision);
		this.#writes.set(writeName(environment, revision), span.spanContext());
		for (const oldest of this.#writes.keys()) {
			if (this.#writes.size <= maxWrites) break;
			this.#writes.delete(oldest);
		}
	};

	/** Compiles a schema in a span. If a write caused the compilation, the span joins the write's trace. */
	readonly compile = <T>(compile: () => Promise<T>): Promise<T> =>
		this.#inSpan('compile policy', { kind: SpanKind.INTERNAL, parent: context.active() }, compile);

	/**
	 * Builds a step for decision points in a span. The span continues the newest write's trace and links to earlier
	 * writes.
	 */
	readonly publish = async <T>(
		{ environment, from, to }: Step,
		make: () => Promise<T>,
	): Promise<{ readonly made: T; readonly traceparent: string }> => {
		const newest = this.#writes.get(writeName(environment, to));
		const first = Math.max(from + 1, to - maxLinks);
		const links = Array.from({ length: Math.max(to - first, 0) }, (_, index) =>
			this.#writes.get(writeName(environment, first + index)),
		).flatMap((write) => (write === undefined ? [] : [{ context: write }]));
		const parent = continuedContext(newest);
		const attributes = { 'regolith.revision': to, 'regolith.base_revision': from };
		const how = { kind: SpanKind.PRODUCER, parent, attributes, links };
		return this.#inSpan('publish revision', how, async (span) => ({
			made: await make(),
			traceparent: renderTraceparent(span.spanContext()),
		}));
	};

	/** Applies a bundle at a decision point in a span. The span continues the trace in which the step was published. */
	readonly apply = <T extends Applied>({ bytes, traceparent }: Bundle, apply: () => Promise<T>): Promise<T> => {
		const parent = continuedContext(spanContextIn(traceparent));
		const attributes = { 'regolith.bundle_bytes': bytes.byteLength };
		return this.#inSpan('apply revision', { kind: SpanKind.CONSUMER, parent, attributes }, async (span) => {
			const applied = await apply();
			span.setAttributes({ 'regolith.revision': applied.revision, 'regolith.bundle_kind': applied.kind });
			return applied;
		});
	};

	/** Runs `work` in a span. The span ends when `work` settles, and records a failure. */
	#inSpan<T>(name: string, { parent, ...options }: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
		const span = this.#tracer.startSpan(name, options, parent);
		return context.with(trace.setSpan(parent, span), async () => {
			try {
				return await work(span);
			} catch (error) {
				span.setStatus({ code: SpanStatusCode.ERROR });
				throw error;
			} finally {
				span.end();
			}
		});
	}
}

interface SpanStart {
	readonly kind: SpanKind;
	readonly parent: Context;
	readonly attributes?: Attributes;
	readonly links?: Link[];
}

/** Sets a span's name and attributes from a completed request. */
function describeAnswer(span: Span, { endpoint, route, method, status, id }: AnsweredRequest): void {
	span.updateName(route === undefined ? method : `${method} ${route}`);
	span.setAttributes({
		'http.request.method': method,
		'http.response.status_code': status,
		'regolith.request_id': id,
		...(route === undefined ? {} : { 'http.route': route }),
		...(endpoint === undefined ? {} : { 'regolith.endpoint': endpoint }),
	});
	if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
}

function writeName(environment: string, revision: number): string {
	return `${environment}/${revision}`;
}

/** Returns a context in which new spans continue this span's trace, or begin a new trace if there is no span. */
function continuedContext(span: SpanContext | undefined): Context {
	return span === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, span);
}

/** Renders a `traceparent` as in W3C Trace Context, version 00. */
function renderTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
	return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** Parses a `traceparent`; `undefined` if it is malformed. */
function spanContextIn(traceparent = ''): SpanContext | undefined {
	const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent) ?? [];
	if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
	const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
	return { traceId, spanId, traceFlags, isRemote: true };
}
