import { visibleText } from './visible-text.js';

/** A node, with the fields that a drawing shows. */
export interface ShownNode {
	readonly id: string;
	readonly kind: 'user' | 'tenant' | 'instance' | 'group' | 'resource' | 'resource_role' | 'role';
	readonly key: string;
	readonly type?: string | undefined;
	readonly name?: string | undefined;
	readonly tenant?: string | undefined;
	/** Number of hidden neighbors. */
	readonly more?: number | undefined;
}

/** An edge, with the fields that a drawing shows. */
export interface ShownEdge {
	readonly from: string;
	readonly to: string;
	readonly kind:
		| 'role_assignment'
		| 'group_membership'
		| 'relationship'
		| 'relation'
		| 'resource_role'
		| 'derivation'
		| 'extends'
		| 'grant';
	readonly relation?: string | undefined;
	readonly role?: string | undefined;
	readonly via?: string | undefined;
	readonly actions?: readonly string[] | undefined;
	readonly action_count?: number | undefined;
}

/** Maximum node label length, in characters. */
const maxLabel = 32;

/** Returns a node's label: its kind or type, and its key. */
export function nodeLabel({ kind, key, type }: ShownNode): string {
	const text = visibleText(`${nodeKind(kind, type)} ${key}`);
	return text.length <= maxLabel ? text : `${text.slice(0, maxLabel - 1)}…`;
}

export function nodeKind(kind: ShownNode['kind'], type: string | undefined): string {
	if (kind === 'resource_role') return type === undefined ? 'role' : `${type} role`;
	return type !== undefined && (kind === 'instance' || kind === 'group') ? type : kind;
}

/** Returns a short label for an edge. */
export function edgeLabel({ kind, relation, role, via, actions = [], action_count = 0 }: ShownEdge): string {
	switch (kind) {
		case 'role_assignment':
			return visibleText(role ?? 'role');
		case 'group_membership':
			return 'member';
		case 'relationship':
			return visibleText(via === undefined ? (relation ?? '') : `${relation}: ${via} gives ${role}`);
		case 'relation':
			return visibleText(relation ?? '');
		case 'resource_role':
			return 'has role';
		case 'derivation':
			return visibleText(`via ${relation}`);
		case 'extends':
			return 'extends';
		case 'grant': {
			const shown = actions.slice(0, 3).join(', ');
			return visibleText(action_count > 3 ? `${shown} and ${action_count - 3} more` : shown);
		}
	}
}
