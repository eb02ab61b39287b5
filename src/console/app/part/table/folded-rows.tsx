import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../../../part/button.js';

interface FoldedRowsProps<Row> {
	readonly rows: readonly Row[];
	/** Number of rows to show first, and to add with each "Show more". */
	readonly atOnce?: number;
	/** Renders the shown rows as list items, `details` or table rows, in order. */
	readonly children: (shown: readonly Row[]) => ComponentChildren;
}

/** Start of a long list, with a button for the next rows. The focus then moves to the first new row. */
export function FoldedRows<Row>({ rows, atOnce = 20, children }: FoldedRowsProps<Row>) {
	const count = useSignal(atOnce);
	const frame = useRef<HTMLDivElement>(null);
	const added = useRef<number | null>(null);
	useLayoutEffect(() => {
		if (added.current === null) return;
		const items = frame.current?.querySelectorAll(':scope > :is(ul, ol) > li, :scope > details, :scope tbody > tr');
		const target = items?.[added.current]?.querySelector('summary, a, button');
		if (target instanceof HTMLElement) target.focus();
		added.current = null;
	}, [count.value]);
	const left = rows.length - count.value;
	return (
		<div ref={frame}>
			{children(rows.slice(0, count.value))}
			{left > 0 && (
				<Button
					onClick={() => {
						added.current = count.value;
						count.value += atOnce;
					}}
				>
					Show more ({left.toLocaleString('en')} left)
				</Button>
			)}
		</div>
	);
}
