// Which users a process can tell apart.
import CairnPlatform
import Testing

@Suite struct UserNamespaceTests {
  @Test(arguments: [
    // A machine, a container, a unit with PrivateUsers=yes of root and of another user.
    ("         0          0 4294967295\n", false), ("0 100000 65536\n", false),
    ("0 0 1\n998 998 1\n", true), ("0 0 1\n", true), ("0 1000 1\n1 100000 65536\n", false),
    ("", false), ("nonsense\n", false),
  ])
  func aUnitThatHidesUsersIsTold(_ map: String, _ hides: Bool) {
    #expect(UserNamespace.hidesUsers(map) == hides)
  }

  @Test func thisProcessSeesOthers() { #expect(!UserNamespace.hidesUsers) }
}
