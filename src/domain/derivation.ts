import { Failure, notFound } from '../failure.js';
import { groupBy } from '../group-by.js';
import { Relation } from '../store/table/relation.js';
import { Resource } from '../store/table/resource.js';
import { Role, RoleDerivation } from '../store/table/role.js';
import { type Derivation, derivationsOf, replaceDerivations } from '../store/table/role-derivation.js';
import { type Columns, holds, type ReadingUnit, type WritingUnit } from '../store/unit.js';
import type {
	DerivationSettingsEdit,
	DerivedRoleBlockEdit,
	DerivedRoleRuleCreate,
	DerivedRoleRuleRead,
} from '../wire/derivation.js';
import { refuseCrowdsInto } from './circle-limit.js';
import { only } from './only.js';
import { withPartsNamed } from './parts-named.js';
import { readRule, recordingRoles } from './role-record.js';

/** A role and all its derivations; null for none. */
export interface DerivationEdit {
	readonly role: Role;
	readonly granted_to: DerivedRoleBlockEdit | null;
}

/** The columns of a role that its `granted_to` decides; a role that had some keeps the id of the block. */
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
 * Makes roles be derived exactly so, recording nothing; of a rule that is said twice, the last one counts. Throws
 * `not_found` for what names nothing, `mismatched_relation` for a relation that does not lead to the source's resource,
 * `limit_reached` as `refuseCrowdsInto`.
 */
export async function setDerivations(unit: WritingUnit, edits: readonly DerivationEdit[]): Promise<void> {
	if (edits.length === 0) return;
	const rules = edits.flatMap(({ role, granted_to }) =>
		(granted_to?.users_with_role ?? []).map((rule) => ({ role, rule })),
	);
	const found = groupBy(await resolve(unit, rules), ({ role }) => role.id);
	await replaceDerivations(
		unit,
		new Map(edits.map(({ role }) => [role.id, once((found.get(role.id) ?? []).map(({ derivation }) => derivation))])),
	);
	await refuseCrowdsInto(unit, [...found.keys()]);
}

/** Derives a role from one more; a rule that is there already takes the settings. Throws as `setDerivations`. */
export async function grantImplicitly(
	unit: WritingUnit,
	role: Role,
	rule: DerivedRoleRuleCreate,
): Promise<DerivedRoleRuleRead> {
	const { derivation } = only(await resolve(unit, [{ role, rule }]));
	await recordingRoles(unit, [role], async () => {
		if (role.granted_to_id === null) await unit.change(Role, role, { granted_to_id: unit.clock.newId() });
		const others = await derivationsOf(unit, [role.id]);
		await replaceDerivations(unit, new Map([[role.id, once([...others, derivation])]]));
		await refuseCrowdsInto(unit, [role.id]);
		return undefined;
	});
	const rows = await derivationsOf(unit, [role.id]);
	return readRule(only(rows.filter((row) => identityOf(row) === identityOf(derivation))));
}

/** Derives a role from one less. Throws `not_found` when there is no such rule, else as `setDerivations`. */
export async function revokeImplicitly(unit: WritingUnit, role: Role, rule: DerivedRoleRuleCreate): Promise<void> {
	const { derivation } = only(await resolve(unit, [{ role, rule }]));
	await recordingRoles(unit, [role], async () => {
		const all = await derivationsOf(unit, [role.id]);
		const others = all.filter((row) => identityOf(row) !== identityOf(derivation));
		if (others.length === all.length) {
			const { on_resource, linked_by_relation } = rule;
			throw notFound(RoleDerivation.title, `${on_resource}#${rule.role} by ${linked_by_relation}`);
		}
		await replaceDerivations(unit, new Map([[role.id, others]]));
		return undefined;
	});
}

/** Sets when the derivations of a role count, all of them. Throws `limit_reached` as `refuseCrowdsInto`. */
export async function setDerivationSettings(
	unit: WritingUnit,
	role: Role,
	settings: DerivationSettingsEdit,
): Promise<DerivationSettingsEdit> {
	if (!holds(role, settings)) {
		const columns = { granted_to_id: role.granted_to_id ?? unit.clock.newId(), ...settings };
		await recordingRoles(unit, [role], async () => {
			await unit.change(Role, role, columns);
			await refuseCrowdsInto(unit, [role.id]);
			return [];
		});
	}
	return settings;
}

interface RoleRule {
	readonly role: Role;
	readonly rule: DerivedRoleRuleCreate;
}

async function resolve(unit: ReadingUnit, rules: readonly RoleRule[]) {
	const resources = await unit.findAll(
		Resource,
		rules.map(({ rule }) => rule.on_resource),
	);
	const placed = rules.flatMap(({ role, rule }) => {
		const source = resources.get(rule.on_resource);
		return source === undefined ? [] : [{ role, rule, source }];
	});
	const related = await withPartsNamed(unit, Relation, placed, ({ role, rule }) => ({
		resource_id: role.resource_id,
		reference: rule.linked_by_relation,
	}));
	const derived = await withPartsNamed(unit, Role, related, ([{ source, rule }]) => ({
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
	const message = `the subjects of the relation \`${relation.key}\` are not of the resource \`${source.key}\``;
	throw new Failure('mismatched_relation', message);
}

function once(derivations: readonly Derivation[]): readonly Derivation[] {
	return [...new Map(derivations.map((derivation) => [identityOf(derivation), derivation])).values()];
}

function identityOf({ source_role_id, relation_id }: Derivation): string {
	return `${source_role_id}/${relation_id}`;
}
