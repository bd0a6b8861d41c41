// Apple's names of value transformers, for transformable attributes.
import Cairn

public typealias NSValueTransformerName = ValueTransformerName
public typealias NSSecureUnarchiveFromDataTransformer = SecureUnarchiveFromDataTransformer
