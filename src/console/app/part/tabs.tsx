interface Tab {
	/** Name among the tabs. */
	readonly name: string;
	readonly title: string;
	readonly href: string;
}

interface TabsProps {
	/** Description of the tabs for screen readers. */
	readonly label: string;
	readonly tabs: readonly Tab[];
	/** Name of the open tab. */
	readonly open: string;
}

/** Links to the parts of a screen. */
export function Tabs({ label, tabs, open }: TabsProps) {
	return (
		<nav class="line tabs" aria-label={label}>
			{tabs.map(({ name, title, href }) => (
				<a key={name} href={href} aria-current={name === open ? 'true' : undefined}>
					{title}
				</a>
			))}
		</nav>
	);
}
