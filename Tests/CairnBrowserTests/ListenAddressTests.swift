// Where `cairnctl browse` and `cairnctl page` listen.
import Testing

@testable import CairnBrowser

@Suite struct ListenAddressTests {
  @Test func portsAndLoopbackAddressesAreTaken() throws {
    #expect(try ListenAddress("8080") == .loopback(host: "127.0.0.1", port: 8080))
    #expect(try ListenAddress("127.0.0.1:0") == .loopback(host: "127.0.0.1", port: 0))
    #expect(try ListenAddress("localhost:80") == .loopback(host: "127.0.0.1", port: 80))
    #expect(try ListenAddress("[::1]:80") == .loopback(host: "::1", port: 80))
    #expect(try ListenAddress("/run/x") == .socket(path: "/run/x"))
    #expect(try ListenAddress("unix:/run/x") == .socket(path: "/run/x"))
  }

  @Test(arguments: [
    "0.0.0.0:80", "192.168.1.1:80", "[::]:80", "example.org:80", "70000", "-1", "", "127.0.0.1:",
    "unix:relative", "/" + String(repeating: "x", count: 110),
  ])
  func otherAddressesAreRefused(text: String) {
    #expect(throws: ListenAddressError.self) { try ListenAddress(text) }
  }
}
