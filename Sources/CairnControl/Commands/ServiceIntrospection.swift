// org.varlink.service: what every Varlink service tells about itself.

/// Names the service and lists its interfaces.
public enum GetInfo: ControlMethod {
  public static let name = "org.varlink.service.GetInfo"
  public static let role = ControlRole.status
  public static let declarations = [
    """
    # Get a list of all the interfaces a service provides and information
    # about the implementation.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )
    """
  ]
  public typealias Parameters = NoValues

  public struct Reply: Codable, Sendable, Hashable {
    public var vendor: String
    public var product: String
    public var version: String
    public var url: String
    public var interfaces: [String]

    public init(vendor: String, product: String, version: String, url: String, interfaces: [String])
    {
      self.vendor = vendor
      self.product = product
      self.version = version
      self.url = url
      self.interfaces = interfaces
    }
  }
}

/// Gives the text that describes an interface.
public enum GetInterfaceDescription: ControlMethod {
  public static let name = "org.varlink.service.GetInterfaceDescription"
  public static let role = ControlRole.status
  public static let declarations = [
    """
    # Get the description of an interface that is implemented by this service.
    method GetInterfaceDescription(interface: string) -> (description: string)
    """
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var interface: String
    public init(interface: String) { self.interface = interface }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var description: String
    public init(description: String) { self.description = description }
  }
}
