// Apple's names of value transformers, for transformable attributes.
import CairnStack

public typealias NSValueTransformerName = ValueTransformerName
public typealias NSSecureUnarchiveFromDataTransformer = SecureUnarchiveFromDataTransformer
