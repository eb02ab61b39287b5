import {
	defaultRangeExtractor,
	elementScroll,
	observeElementOffset,
	observeElementRect,
	Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks';

interface VirtualOptions {
	readonly scroller: RefObject<HTMLElement | null>;
	readonly horizontal: boolean;
	readonly count: number;
	/** The length of each item, in pixels. */
	readonly size: number;
	/** What stands before the items and covers them when they are scrolled, in pixels. */
	readonly lead: number;
	/** How many items are rendered beyond each end of what is seen. */
	readonly overscan: number;
	/** An item that is always rendered, because it has the focus. */
	readonly kept: number;
}

/** An item that is rendered, and where it begins, in pixels. */
export interface VirtualPlace {
	readonly index: number;
	readonly start: number;
}

/** The items of a long list that are rendered, of one direction of an element that scrolls. */
export interface VirtualList {
	/** Another list only when other items are rendered. */
	readonly items: readonly VirtualPlace[];
	/** With the lead, in pixels. */
	readonly length: number;
	/** Scrolls as little as it takes to see an item. */
	show(index: number): void;
}

/** Renders only what is seen of a list whose items all have one size. */
export function useVirtual({ scroller, horizontal, count, size, lead, overscan, kept }: VirtualOptions): VirtualList {
	const [, render] = useReducer((turn: number) => turn + 1, 0);
	const options = {
		count,
		horizontal,
		overscan,
		paddingStart: lead,
		scrollPaddingStart: lead,
		getScrollElement: () => scroller.current,
		estimateSize: () => size,
		observeElementRect,
		observeElementOffset,
		scrollToFn: elementScroll,
		onChange: () => render(null as never),
		rangeExtractor: (range: Parameters<typeof defaultRangeExtractor>[0]) => {
			const seen = defaultRangeExtractor(range);
			return kept < 0 || kept >= count || seen.includes(kept)
				? seen
				: [...seen, kept].sort((one, other) => one - other);
		},
	};
	const held = useRef<Virtualizer<HTMLElement, HTMLElement> | null>(null);
	held.current ??= new Virtualizer<HTMLElement, HTMLElement>(options);
	const virtualizer = held.current;
	virtualizer.setOptions(options);
	useLayoutEffect(() => virtualizer._didMount(), []);
	useLayoutEffect(() => virtualizer._willUpdate());
	useLayoutEffect(() => virtualizer.measure(), [size, lead, count]);
	const found = virtualizer.getVirtualItems();
	const items = useMemo(
		() => found.map(({ index, start }) => ({ index, start })),
		[found.map(({ index, start }) => `${index}@${start}`).join()],
	);
	return {
		items,
		length: lead + count * size,
		show: (index) => virtualizer.scrollToIndex(index, { align: 'auto', behavior: 'auto' }),
	};
}
