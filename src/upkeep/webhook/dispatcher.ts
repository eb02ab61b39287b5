import type { Clock } from '../../clock.js';
import type { Logger } from '../../log.js';
import { PrivateAddressError } from '../../outbound/public-address.js';
import type { DeliveryOutcome, TakenDelivery, WebhookOutbox } from '../../store/account/webhook-outbox.js';
import type { Poster } from './post.js';
import { sign } from './signature.js';

/** Maximum number of concurrent deliveries per process. */
const maxConcurrent = 8;
/** Time in milliseconds between polls of the outbox if no signal arrives. */
const pollMilliseconds = 5_000;
/** Time in milliseconds before the second attempt. Each later pause is four times as long as the previous pause. */
const firstPause = 1_000;
/** Maximum number of attempts. The last attempt is about six hours after the first. */
export const maxAttempts = 9;

/** Dependencies of a dispatcher. */
export interface DispatcherParts {
	readonly outbox: Pick<WebhookOutbox, 'take' | 'finish'>;
	readonly post: Poster;
	readonly clock: Clock;
	readonly log: Logger;
}

/**
 * Sends waiting deliveries to element webhooks, and retries failed deliveries. Several processes share the deliveries.
 * If a process dies, its unfinished deliveries are sent again. A receiver may therefore get a delivery twice, with the
 * same id.
 */
export class WebhookDispatcher {
	readonly #running = new Set<Promise<void>>();
	#loop: Promise<void> | undefined;
	#stopped = false;
	#woken = false;
	#wake: () => void = () => {};
	#failing = false;
	#delivered = 0;
	#failed = 0;
	#givenUp = 0;

	constructor(private readonly parts: DispatcherParts) {}

	/**
	 * Numbers of attempts by result, since this process started. `given_up` counts deliveries without a further attempt.
	 */
	get counts(): { readonly delivered: number; readonly failed: number; readonly given_up: number } {
		return { delivered: this.#delivered, failed: this.#failed, given_up: this.#givenUp };
	}

	/** Starts polling the outbox. */
	start(): void {
		this.#loop ??= this.#run();
	}

	/** Polls the outbox now. */
	wake(): void {
		this.#woken = true;
		this.#wake();
	}

	/** Stops polling, and waits for running deliveries. */
	async stop(): Promise<void> {
		this.#stopped = true;
		this.#wake();
		await this.#loop;
		await Promise.all(this.#running);
	}

	async #run(): Promise<void> {
		while (!this.#stopped) {
			this.#woken = false;
			const free = maxConcurrent - this.#running.size;
			const taken = free > 0 ? await this.#take(free) : [];
			for (const delivery of taken) this.#begin(delivery);
			if (taken.length === 0) await this.#pause();
		}
	}

	async #take(most: number): Promise<readonly TakenDelivery[]> {
		try {
			const taken = await this.parts.outbox.take(most);
			this.#failing = false;
			return taken;
		} catch (error) {
			// The database is unavailable or full. Log this once, and again only after the database has recovered.
			if (!this.#failing) this.parts.log.warn({ error }, 'cannot read the webhook outbox');
			this.#failing = true;
			return [];
		}
	}

	#begin(delivery: TakenDelivery): void {
		const work = this.#deliver(delivery)
			.catch((error: unknown) => {
				// The lease for this delivery expires, and then the delivery is sent again.
				this.parts.log.warn({ error, delivery: delivery.id }, 'cannot record a webhook response');
			})
			.finally(() => {
				this.#running.delete(work);
				// The next delivery for the same element may be waiting.
				this.wake();
			});
		this.#running.add(work);
	}

	async #deliver(taken: TakenDelivery): Promise<void> {
		const outcome = await this.#attempt(taken);
		this.#count(outcome);
		await this.parts.outbox.finish(taken, outcome);
		if (outcome.delivered) return;
		const { retry_after } = outcome;
		const { id, config_id, attempts } = taken;
		this.parts.log.info({ delivery: id, config_id, attempts, error: outcome.error, retry_after }, 'a webhook failed');
		// If the retry is later, the next poll finds it.
		if (retry_after !== null && retry_after < pollMilliseconds) setTimeout(() => this.wake(), retry_after).unref();
	}

	#count(outcome: DeliveryOutcome): void {
		if (outcome.delivered) this.#delivered += 1;
		else if (outcome.retry_after === null) this.#givenUp += 1;
		else this.#failed += 1;
	}

	async #attempt({ id, config_id, payload, webhook, attempts }: TakenDelivery): Promise<DeliveryOutcome> {
		if (webhook === null) return givenUp('the element no longer has a webhook');
		if (webhook === 'unreadable') {
			this.parts.log.error({ delivery: id, config_id }, "a webhook's bearer token cannot be decrypted");
			return this.#failure(attempts, "the webhook's bearer token cannot be decrypted: set the webhook again", null);
		}
		const body = JSON.stringify(payload);
		const headers = {
			'content-type': 'application/json',
			'content-length': String(Buffer.byteLength(body)),
			'user-agent': 'regolith',
			...sign(webhook.signing_keys, id, this.parts.clock.now(), body),
			...(webhook.bearer_token === null ? {} : { authorization: `Bearer ${webhook.bearer_token}` }),
		};
		try {
			const response_status = await this.parts.post({ url: webhook.url, headers, body });
			if (response_status >= 200 && response_status < 300) return { delivered: true, response_status };
			return this.#failure(attempts, `got status ${response_status}`, response_status);
		} catch (error) {
			return this.#failure(attempts, failureText(error), null);
		}
	}

	#failure(attempts: number, error: string, response_status: number | null): DeliveryOutcome {
		const retry_after = attempts >= maxAttempts ? null : pauseAfter(attempts);
		return { delivered: false, response_status, error, retry_after };
	}

	/** Waits until a delivery may be due. */
	async #pause(): Promise<void> {
		if (this.#woken || this.#stopped) return;
		await new Promise<void>((resolve) => {
			const timer = setTimeout(resolve, pollMilliseconds);
			this.#wake = () => {
				clearTimeout(timer);
				resolve();
			};
		});
		this.#wake = () => {};
	}
}

/**
 * Returns the pause after this number of attempts, in milliseconds. The pause varies randomly by 10 % to spread the
 * load on receivers.
 */
export function pauseAfter(attempts: number): number {
	return Math.round(firstPause * 4 ** (attempts - 1) * (0.9 + Math.random() * 0.2));
}

function givenUp(error: string): DeliveryOutcome {
	return { delivered: false, response_status: null, error, retry_after: null };
}

/** Describes why there was no response, without revealing details about the network. */
function failureText(error: unknown): string {
	if (error instanceof PrivateAddressError) return `${error.message} (WEBHOOK_ALLOW_PRIVATE)`;
	if (!(error instanceof Error)) return 'no response';
	if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'timeout';
	const { code } = error as NodeJS.ErrnoException;
	return code === undefined ? 'no response' : `no response: ${code}`;
}
