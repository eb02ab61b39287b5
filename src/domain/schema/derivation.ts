import { groupBy } from '../../../compiler/group-by.js';
import { isSetRelation } from '../../../compiler/user-set.js';
import { Failure, notFound, unprocessable } from '../../failure.js';
import { onlyRow } from '../../store/query/only-row.js';
import { Relation } from '../../store/table/relation.js';
import { Resource } from '../../store/table/resource.js';
import { Role, RoleDerivation } from '../../store/table/role.js';
import { type Derivation, derivationRows, replaceDerivations } from '../../store/table/role-derivation.js';
import { hasValues } from '../../store/unit/change-record.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { Columns } from '../../store/unit/table-model.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type {
	DerivationSettingsEdit,
	DerivedRoleBlockEdit,
	DerivedRoleRuleCreate,
	DerivedRoleRuleRead,
} from '../../wire/schema/derivation.js';
import { refuseRolesOverLimit } from '../check-limit/cycle-limit.js';
import { pairWithParts } from '../pair-with-parts.js';
import { refuseUnsoundLinks } from './computed-role.js';
import { refuseExcludedConditions } from './grant-condition.js';
import { readDerivationRule, recordRoleChanges } from './role-record.js';

/** A role and all its derivations. `granted_to` is null if the role has none. */
export interface DerivationEdit {
	readonly role: Role;
	readonly granted_to: DerivedRoleBlockEdit | null;
}

/**
 * Returns the role columns determined by `granted_to`. A role that already has a `granted_to` block keeps the block's
 * id.
 */
export function derivationColumns(
	unit: WritingUnit,
	granted_to: DerivedRoleBlockEdit | null | undefined,
	role?: Role,
): Columns<Role> {
	if (granted_to === undefined) return {};
	if (granted_to === null) return { granted_to_id: null, no_direct_roles_on_object: false };
	return { granted_to_id: role?.granted_to_id ?? unit.clock.newId(), ...granted_to.when };
}

/**
 * Replaces role derivations, without recording the change. Returns the roles that have derivations now, as ids. If a
 * rule is repeated, the last applies. The caller calls `refuseUnsoundLinks` and `refuseRolesOverLimit`. Throws
 * `not_found` for a missing object, and `mismatched_relation` if the relation's subjects are not instances of the
 * source role's resource.
 */
export async function setDerivations(unit: WritingUnit, edits: readonly DerivationEdit[]): Promise<readonly string[]> {
	if (edits.length === 0) return [];
	const rules = edits.flatMap(({ role, granted_to }) =>
		(granted_to?.users_with_role ?? []).map((rule) => ({ role, rule })),
	);
	const found = groupBy(await resolveRules(unit, rules), ({ role }) => role.id);
	await replaceDerivations(
		unit,
		new Map(
			edits.map(({ role }) => [role.id, distinct((found.get(role.id) ?? []).map(({ derivation }) => derivation))]),
		),
	);
	return [...found.keys()];
}

/**
 * Adds a derivation to a role, or replaces an existing derivation's settings. Throws like `setDerivations`,
 * `refuseUnsoundLinks` and `refuseRolesOverLimit`, and `unprocessable` for a computed role.
 */
export async function grantImplicitly(
	unit: WritingUnit,
	role: Role,
	rule: DerivedRoleRuleCreate,
): Promise<DerivedRoleRuleRead> {
	if (role.computed !== null) {
		const msg = `the role \`${role.key}\` is computed, so it has no derivations`;
		throw unprocessable([{ loc: ['body'], msg, type: 'computed_role' }]);
	}
	const { derivation } = onlyRow(await resolveRules(unit, [{ role, rule }]));
	await recordRoleChanges(unit, [role], async () => {
		if (role.granted_to_id === null) await unit.change(Role, role, { granted_to_id: unit.clock.newId() });
		const others = await shownDerivations(unit, role);
		await replaceDerivations(unit, new Map([[role.id, distinct([...others, derivation])]]));
		await refuseUnsoundLinks(unit);
		await refuseRolesOverLimit(unit, [role.id]);
		return undefined;
	});
	await refuseExcludedConditions(unit, ['body']);
	const rows = await shownDerivations(unit, role);
	return readDerivationRule(onlyRow(rows.filter((row) => derivationIdentity(row) === derivationIdentity(derivation))));
}

/** Removes a derivation from a role. Throws `not_found` for a missing rule, and otherwise like `setDerivations`. */
export async function revokeImplicitly(unit: WritingUnit, role: Role, rule: DerivedRoleRuleCreate): Promise<void> {
	const { derivation } = onlyRow(await resolveRules(unit, [{ role, rule }]));
	await recordRoleChanges(unit, [role], async () => {
		const all = await shownDerivations(unit, role);
		const others = all.filter((row) => derivationIdentity(row) !== derivationIdentity(derivation));
		if (others.length === all.length) {
			const { on_resource, linked_by_relation } = rule;
			throw notFound(RoleDerivation.title, `${on_resource}#${rule.role} by ${linked_by_relation}`);
		}
		await replaceDerivations(unit, new Map([[role.id, others]]));
		return undefined;
	});
}

/** Returns a role's derivations, without its assignments to sets of users. */
async function shownDerivations(unit: ReadingUnit, role: Role) {
	const rows = await derivationRows(unit, [role.id]);
	return rows.filter(({ linked_by_relation }) => !isSetRelation(linked_by_relation));
}

/**
 * Sets whether a direct role on the object disables all of a role's derivations. Throws like `refuseUnsoundLinks` and
 * `refuseRolesOverLimit`.
 */
export async function setDerivationSettings(
	unit: WritingUnit,
	role: Role,
	settings: DerivationSettingsEdit,
): Promise<DerivationSettingsEdit> {
	if (!hasValues(role, settings)) {
		const columns = { granted_to_id: role.granted_to_id ?? unit.clock.newId(), ...settings };
		await recordRoleChanges(unit, [role], async () => {
			await unit.change(Role, role, columns);
			await refuseUnsoundLinks(unit);
			await refuseRolesOverLimit(unit, [role.id]);
			return [];
		});
	}
	return settings;
}

interface RoleRule {
	readonly role: Role;
	readonly rule: DerivedRoleRuleCreate;
}

async function resolveRules(unit: ReadingUnit, rules: readonly RoleRule[]) {
	const owners = rules.map(({ rule }) => rule.on_resource);
	const resources = await unit.findAll(Resource, owners);
	const placed = rules.flatMap(({ role, rule }) => {
		const source = resources.get(rule.on_resource);
		return source === undefined ? [] : [{ role, rule, source }];
	});
	const related = await pairWithParts(unit, Relation, placed, ({ role, rule }) => ({
		resource_id: role.resource_id,
		reference: rule.linked_by_relation,
	}));
	const derived = await pairWithParts(unit, Role, related, ([{ source, rule }]) => ({
		resource_id: source.id,
		reference: rule.role,
	}));
	return derived.map(([[{ role, rule, source }, relation], { id }]) => {
		refuseMismatch(relation, source);
		const derivation: Derivation = { source_role_id: id, relation_id: relation.id, ...rule.when };
		return { role, derivation };
	});
}

function refuseMismatch(relation: Relation, source: Resource): void {
	if (relation.subject_resource_id === source.id) return;
	const message = `the subjects of the relation \`${relation.key}\` are not instances of \`${source.key}\``;
	throw new Failure('mismatched_relation', message);
}

function distinct(derivations: readonly Derivation[]): readonly Derivation[] {
	return [...new Map(derivations.map((derivation) => [derivationIdentity(derivation), derivation])).values()];
}

function derivationIdentity({ source_role_id, relation_id }: Derivation): string {
	return `${source_role_id}/${relation_id}`;
}
