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
	/** Item length, in pixels. */
	readonly size: number;
	/** Length before the first item, in pixels. Items scroll under this area. */
	readonly lead: number;
	/** Number of items to render beyond each end of the visible area. */
	readonly overscan: number;
	/** Item that is always rendered, because it has focus. */
	readonly kept: number;
}

/** Rendered item and its position, in pixels. */
export interface VirtualPlace {
	readonly index: number;
	readonly start: number;
}

/** Items to render from a long list, for one scroll direction. */
export interface VirtualList {
	/** The array is replaced only if the rendered items differ. */
	readonly items: readonly VirtualPlace[];
	/** Total length including `lead`, in pixels. */
	readonly length: number;
	/** Scrolls the minimum distance to make an item visible. */
	show(index: number): void;
}

/** Renders only the visible items in a list. All items have the same size. */
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
