/** Queue entry: work that runs alone, or a member that may be grouped with its neighbors. */
type QueueEntry<Member> =
	| { readonly alone: true; readonly work: () => Promise<void> }
	| { readonly alone: false; readonly member: Member };

/** Removes the next entry from the queue if it is a member, and returns it; otherwise returns `undefined`. */
export type TakeNext<Member> = () => Member | undefined;

/**
 * A queue per name. Entries with the same name run in order; entries with different names run concurrently. Adjacent
 * members are grouped: `together` takes at least one member, and is called again for the remaining members. It reports
 * the outcome to the members it took, and never rejects.
 */
export class KeyedQueue<Member = never> {
	readonly #waiting = new Map<string, QueueEntry<Member>[]>();

	constructor(private readonly together: (name: string, next: TakeNext<Member>) => Promise<void> = async () => {}) {}

	/** Number of waiting entries with any name. */
	get waiting(): number {
		return [...this.#waiting.values()].reduce((sum, queue) => sum + queue.length, 0);
	}

	/** Runs `work` alone, after all earlier entries with this name. Settles with the result of `work`. */
	runAlone<T>(name: string, work: () => Promise<T>): Promise<T> {
		return new Promise<T>((resolve, reject) => {
			const run = async () => {
				try {
					resolve(await work());
				} catch (error) {
					reject(error);
				}
			};
			this.#wait(name, { alone: true, work: run });
		});
	}

	/** Queues a member after all earlier entries with this name. */
	enqueue(name: string, member: Member): void {
		this.#wait(name, { alone: false, member });
	}

	#wait(name: string, next: QueueEntry<Member>): void {
		const waiting = this.#waiting.get(name);
		if (waiting !== undefined) {
			waiting.push(next);
			return;
		}
		const queue = [next];
		this.#waiting.set(name, queue);
		void this.#run(name, queue);
	}

	async #run(name: string, queue: QueueEntry<Member>[]): Promise<void> {
		for (let first = queue[0]; first !== undefined; first = queue[0]) {
			if (first.alone) {
				queue.shift();
				await first.work();
			} else {
				await this.together(name, () => nextMember(queue));
			}
		}
		this.#waiting.delete(name);
	}
}

function nextMember<Member>(queue: QueueEntry<Member>[]): Member | undefined {
	const [first] = queue;
	if (first === undefined || first.alone) return undefined;
	queue.shift();
	return first.member;
}
