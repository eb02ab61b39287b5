import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Paginated } from '../model/api-types.js';
import { Button } from './button.js';
import { messageOf } from './message-of.js';

/** List with server-side pages. */
export interface PagedList<Item> {
	readonly page: number;
	/** Latest page; `null` before the first response. */
	readonly found: ReadonlySignal<Paginated<Item> | null>;
	readonly failure: ReadonlySignal<string | null>;
	reload(): Promise<void>;
	turnTo(page: number): void;
}

/** Number of items per page. */
export const perPage = 20;

/** Reads a list. Starts at the first page again after a dependency changes. */
export function usePagedList<Item>(
	read: (page: number) => Promise<Paginated<Item>>,
	dependencies: readonly unknown[],
): PagedList<Item> {
	const page = useSignal(1);
	const found = useSignal<Paginated<Item> | null>(null);
	const failure = useSignal<string | null>(null);
	// Responses may arrive out of order, so use only the response to the latest request.
	const newest = useRef(0);
	const reload = async () => {
		newest.current += 1;
		const asked = newest.current;
		try {
			const answer = await read(page.value);
			if (asked !== newest.current) return;
			found.value = answer;
			failure.value = null;
		} catch (error) {
			if (asked === newest.current) failure.value = messageOf(error);
		}
	};
	const turnTo = (next: number) => {
		page.value = next;
		void reload();
	};
	useEffect(() => turnTo(1), dependencies);
	return { page: page.value, found, failure, reload, turnTo };
}

/** State of a list without its items: loading, failed or empty. Also contains the links to the list's pages. */
export function PagedListFrame<Item>({ list, empty }: { readonly list: PagedList<Item>; readonly empty: string }) {
	const { page, turnTo } = list;
	const failure = list.failure.value;
	const found = list.found.value;
	if (failure !== null) {
		return (
			<p class="failure" role="alert">
				{failure} <Button onClick={() => void list.reload()}>Try again</Button>
			</p>
		);
	}
	if (found === null) return <p class="quiet">Loading…</p>;
	if (found.total_count === 0) return <p class="quiet">{empty}</p>;
	if (found.page_count < 2 && page === 1) return null;
	return (
		<nav class="pages" aria-label="Pages">
			<Button disabled={page === 1} onClick={() => turnTo(page - 1)}>
				Previous
			</Button>
			<span>
				Page {page} of {found.page_count}
			</span>
			<Button disabled={page >= found.page_count} onClick={() => turnTo(page + 1)}>
				Next
			</Button>
		</nav>
	);
}
