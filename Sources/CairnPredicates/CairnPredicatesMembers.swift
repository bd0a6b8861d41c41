/// Stands for the members of this module's types where `import CoreData` re-exports them and no
/// names.
public enum CairnPredicatesMembers {}
