import { useSignal } from '@preact/signals';
import type { PolicyFolder, PolicyLeaf, PolicyNode } from '../../../model/policy/policy-files.js';

interface PolicyTreeProps {
	readonly nodes: readonly PolicyNode[];
	/** Text to find in paths and titles. If empty, the whole tree is shown. */
	readonly filter: string;
	/** Path of the open file. */
	readonly chosen: string;
	readonly address: (path: string) => string;
}

/** Maximum number of files to list for a filter. */
const maxListed = 200;

/** Policy files as a tree. A folder's content is rendered when the folder is opened. */
export function PolicyTree({ nodes, filter, chosen, address }: PolicyTreeProps) {
	if (filter === '') {
		return (
			<ul class="policy-tree">
				{nodes.map((node) => (
					<Node key={node.name} node={node} chosen={chosen} address={address} />
				))}
			</ul>
		);
	}
	const wanted = filter.toLowerCase();
	const found = leaves(nodes).filter(
		({ path, title }) => path.toLowerCase().includes(wanted) || title?.toLowerCase().includes(wanted),
	);
	return (
		<>
			<p class="quiet" role="status">
				{found.length === 1 ? '1 file' : `${found.length} files`}
				{found.length > maxListed && `, showing the first ${maxListed}`}
			</p>
			<ul class="policy-tree">
				{found.slice(0, maxListed).map((leaf) => (
					<li key={leaf.path}>
						<FileLink leaf={{ ...leaf, name: leaf.path }} chosen={chosen} address={address} />
					</li>
				))}
			</ul>
		</>
	);
}

interface NodeProps<Of extends PolicyNode> extends Pick<PolicyTreeProps, 'chosen' | 'address'> {
	readonly node: Of;
}

function Node({ node, chosen, address }: NodeProps<PolicyNode>) {
	return (
		<li>
			{node.kind === 'folder' ? (
				<Folder node={node} chosen={chosen} address={address} />
			) : (
				<FileLink leaf={node} chosen={chosen} address={address} />
			)}
		</li>
	);
}

function Folder({ node, chosen, address }: NodeProps<PolicyFolder>) {
	const holdsChosen = chosen.startsWith(`${node.path}/`);
	const isOpen = useSignal(holdsChosen || node.path === 'regolith');
	return (
		<details
			open={isOpen.value}
			onToggle={(event) => {
				isOpen.value = event.currentTarget.open;
			}}
		>
			<summary>
				{node.name} <span class="quiet">{node.count}</span>
			</summary>
			{isOpen.value && (
				<ul>
					{node.nodes.map((one) => (
						<Node key={one.name} node={one} chosen={chosen} address={address} />
					))}
				</ul>
			)}
		</details>
	);
}

interface FileLinkProps extends Pick<PolicyTreeProps, 'chosen' | 'address'> {
	readonly leaf: PolicyLeaf;
}

function FileLink({ leaf: { path, name, title }, chosen, address }: FileLinkProps) {
	return (
		<a href={address(path)} aria-current={path === chosen ? 'true' : undefined}>
			{name}
			{title !== null && (
				<>
					{' '}
					<bdi class="quiet">{title}</bdi>
				</>
			)}
		</a>
	);
}

function leaves(nodes: readonly PolicyNode[]): readonly PolicyLeaf[] {
	return nodes.flatMap((node) => (node.kind === 'file' ? [node] : leaves(node.nodes)));
}
