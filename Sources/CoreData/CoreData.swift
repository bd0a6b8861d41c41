// Apple's names for what Cairn has, so that sources written for Core Data compile. This file re-exports;
// the others hold type aliases and Apple's global constants. Nothing here does anything.
@_exported import Cairn
@_exported import Foundation
