// Apple's names for what Cairn has, so that sources written for Core Data compile. This file
// re-exports; the others hold type aliases and Apple's global constants. Nothing here does anything.
//
// Cairn's own names stay out of sight: of each module one type without contents is re-exported. That
// makes the members of the module's other types visible to programs that are compiled with
// `MemberImportVisibility`, and no name of a type.
@_exported import enum CairnContext.CairnContextMembers
@_exported import enum CairnCoordinator.CairnCoordinatorMembers
@_exported import CairnIdentity
@_exported import enum CairnMigration.CairnMigrationMembers
@_exported import enum CairnModel.CairnModelMembers
@_exported import enum CairnModelFiles.CairnModelFilesMembers
@_exported import enum CairnPredicates.CairnPredicatesMembers
@_exported import enum CairnStack.CairnStackMembers
@_exported import enum CairnStore.CairnStoreMembers
@_exported import Foundation

// What has Apple's name in Cairn: classes of Foundation that Linux lacks, and constants.
@_exported import class CairnContext.UndoManager
@_exported import class CairnModel.ValueTransformer
@_exported import let CairnContext.NSErrorMergePolicy
@_exported import let CairnContext.NSMergeByPropertyObjectTrumpMergePolicy
@_exported import let CairnContext.NSMergeByPropertyStoreTrumpMergePolicy
@_exported import let CairnContext.NSOverwriteMergePolicy
@_exported import let CairnContext.NSPersistentHistoryChangeTokenKey
@_exported import let CairnContext.NSRollbackMergePolicy
@_exported import let CairnContext.NSUndoCloseGroupingRunLoopOrdering
@_exported import let CairnContext.NSUndoManagerGroupIsDiscardableKey
