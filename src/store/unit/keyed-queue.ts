/** An entry of a queue: work that runs alone, or a member that can be taken together with others. */
type QueueEntry<Member> =
	| { readonly alone: true; readonly work: () => Promise<void> }
	| { readonly alone: false; readonly member: Member };

/** Takes the next member of the queue; `undefined` when no member follows directly. */
export type TakeNext<Member> = () => Member | undefined;

/**
 * A queue for each name: work of one name runs in the order in which it came, work of different names runs
 * concurrently. Members that wait next to each other are taken together: `together` takes as many as it likes, at least
 * one, and is called again for the rest. It tells the members themselves how they ended, and never rejects.
 */
export class KeyedQueue<Member = never> {
	readonly #waiting = new Map<string, QueueEntry<Member>[]>();

	constructor(private readonly together: (name: string, next: TakeNext<Member>) => Promise<void> = async () => {}) {}

	/** The number of entries that wait for their turn, under all names. */
	get waiting(): number {
		return [...this.#waiting.values()].reduce((sum, queue) => sum + queue.length, 0);
	}

	/** Runs `work` alone, when everything that came before it under this name has ended. Settles as `work` does. */
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

	/** Queues a member, to be taken when everything that came before it under this name has ended. */
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
