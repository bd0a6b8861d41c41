// The numbers of Core Data's versions.

import CoreData
import Testing

/// Chapter II.1 of the specification.
@Suite struct VersionNumberTests {
  /// Code asks whether it runs on this version or a later one; parts after the point are counted.
  @Test func laterVersionsHaveLargerNumbers() {
    let desktop = [
      NSCoreDataVersionNumber10_4, NSCoreDataVersionNumber10_4_3, NSCoreDataVersionNumber10_5,
      NSCoreDataVersionNumber10_5_3, NSCoreDataVersionNumber10_6, NSCoreDataVersionNumber10_6_2,
      NSCoreDataVersionNumber10_6_3, NSCoreDataVersionNumber10_7, NSCoreDataVersionNumber10_7_2,
      NSCoreDataVersionNumber10_7_3, NSCoreDataVersionNumber10_7_4, NSCoreDataVersionNumber10_8,
      NSCoreDataVersionNumber10_8_2, NSCoreDataVersionNumber10_9, NSCoreDataVersionNumber10_9_2,
      NSCoreDataVersionNumber10_9_3, NSCoreDataVersionNumber10_10, NSCoreDataVersionNumber10_10_2,
      NSCoreDataVersionNumber10_10_3, NSCoreDataVersionNumber10_11,
      NSCoreDataVersionNumber10_11_3,
    ]
    let phone = [
      NSCoreDataVersionNumber_iPhoneOS_3_0, NSCoreDataVersionNumber_iPhoneOS_3_1,
      NSCoreDataVersionNumber_iPhoneOS_3_2, NSCoreDataVersionNumber_iPhoneOS_4_0,
      NSCoreDataVersionNumber_iPhoneOS_4_1, NSCoreDataVersionNumber_iPhoneOS_4_2,
      NSCoreDataVersionNumber_iPhoneOS_4_3, NSCoreDataVersionNumber_iPhoneOS_5_0,
      NSCoreDataVersionNumber_iPhoneOS_5_1, NSCoreDataVersionNumber_iPhoneOS_6_0,
      NSCoreDataVersionNumber_iPhoneOS_6_1, NSCoreDataVersionNumber_iPhoneOS_7_0,
      NSCoreDataVersionNumber_iPhoneOS_7_1, NSCoreDataVersionNumber_iPhoneOS_8_0,
      NSCoreDataVersionNumber_iPhoneOS_8_3, NSCoreDataVersionNumber_iPhoneOS_9_0,
      NSCoreDataVersionNumber_iPhoneOS_9_2, NSCoreDataVersionNumber_iPhoneOS_9_3,
    ]
    for versions in [desktop, phone] {
      #expect(zip(versions, versions.dropFirst()).allSatisfy { Int($0) <= Int($1) })
      #expect(versions.allSatisfy { $0 < NSCoreDataVersionNumber })
    }
  }
}
